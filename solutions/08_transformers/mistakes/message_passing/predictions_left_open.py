"""SYMMETRIES holds no predictions yet."""

CAUGHT_BY = ["4.17", "4.18"]


SYMMETRIES = dict.fromkeys(SYMMETRIES, "?")
