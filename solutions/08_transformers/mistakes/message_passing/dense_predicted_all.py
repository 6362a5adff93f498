"""A dense layer has a row and a column of its own for every token, so exchanging two tokens is more than exchanging two outputs."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "dense": "all"}
