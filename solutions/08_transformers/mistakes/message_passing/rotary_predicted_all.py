"""Rotated queries and keys know how far apart two positions are, so tokens cannot change places unnoticed."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_rotary": "all"}
