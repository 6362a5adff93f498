"""Rotated queries and keys know how far apart two positions are, so tokens cannot change places unnoticed."""

CAUGHT_BY = ["4.18"]


SYMMETRIES = {**SYMMETRIES, "attention_rotary": "all"}
