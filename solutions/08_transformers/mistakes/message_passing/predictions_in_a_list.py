"""SYMMETRIES is a list; it is a dict by the names of the layers."""

CAUGHT_BY = ["4.17", "4.18"]


SYMMETRIES = list(SYMMETRIES.values())
