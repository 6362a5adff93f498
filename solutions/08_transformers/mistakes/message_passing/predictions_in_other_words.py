"""The predictions are in words of their own; the handout names the four groups."""

CAUGHT_BY = ["4.7b", "4.7c"]


SYMMETRIES = {key: value.upper() for key, value in SYMMETRIES.items()}
