"""A learned code makes every position different from every other, as a sinusoidal one does."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_learned": "all"}
