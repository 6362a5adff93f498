"""A code that is added makes every position different from every other."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_sinusoidal": "all"}
