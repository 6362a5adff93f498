"""Attention without a code commutes with shifts, and with all other permutations as well."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "attention": "cyclic"}
