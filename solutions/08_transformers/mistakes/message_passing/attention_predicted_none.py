"""Attention without a code sees a set: permuting the tokens permutes the outputs."""

CAUGHT_BY = ["4.17"]


SYMMETRIES = {**SYMMETRIES, "attention": "none"}
