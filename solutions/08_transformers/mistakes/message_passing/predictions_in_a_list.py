"""SYMMETRIES is a list; it is a dict by the names of the layers."""

CAUGHT_BY = ["4.7b", "4.7c"]


SYMMETRIES = list(SYMMETRIES.values())
