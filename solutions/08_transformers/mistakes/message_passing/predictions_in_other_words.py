"""The predictions are in words of their own; the handout names the four groups."""

CAUGHT_BY = ["4.17", "4.18"]


SYMMETRIES = {key: value.upper() for key, value in SYMMETRIES.items()}
