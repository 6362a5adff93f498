"""SYMMETRIES holds no predictions yet."""

CAUGHT_BY = ["4.7b", "4.7c"]


SYMMETRIES = dict.fromkeys(SYMMETRIES, "?")
