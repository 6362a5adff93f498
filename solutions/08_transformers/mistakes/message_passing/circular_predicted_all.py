"""A ring may be turned, but exchanging two of its tokens changes who is next to whom."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "conv_circular": "all"}
