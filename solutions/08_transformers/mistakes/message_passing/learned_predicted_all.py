"""A learned code makes every position different from every other, as a sinusoidal one does."""

CAUGHT_BY = ["4.18"]


SYMMETRIES = {**SYMMETRIES, "attention_learned": "all"}
