"""Two nodes with the same neighbours can be exchanged, and the layer does not notice."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "graph": "none"}
