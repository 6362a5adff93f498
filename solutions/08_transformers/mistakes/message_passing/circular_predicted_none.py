"""On a ring a shifted input gives the shifted output: that is what sharing weights is for."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "conv_circular": "none"}
