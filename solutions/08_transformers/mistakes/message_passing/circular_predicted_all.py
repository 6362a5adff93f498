"""A ring may be turned, but exchanging two of its tokens changes who is next to whom."""

CAUGHT_BY = ["4.17"]


SYMMETRIES = {**SYMMETRIES, "conv_circular": "all"}
