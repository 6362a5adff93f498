"""Attention without a code sees a set: permuting the tokens permutes the outputs."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "attention": "none"}
