"""Attention without a code commutes with shifts, and with all other permutations as well."""

CAUGHT_BY = ["4.17"]


SYMMETRIES = {**SYMMETRIES, "attention": "cyclic"}
