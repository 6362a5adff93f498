"""A sinusoidal code turns under a shift, but generic projections do not turn with it, and a cyclic shift has a seam."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_sinusoidal": "cyclic"}
