"""RoPE knows differences of positions only, but a cyclic shift changes those across the seam."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_rotary": "cyclic"}
