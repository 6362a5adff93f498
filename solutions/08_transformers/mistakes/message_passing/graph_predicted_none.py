"""Two nodes with the same neighbours can be exchanged, and the layer does not notice."""

CAUGHT_BY = ["4.17"]


SYMMETRIES = {**SYMMETRIES, "graph": "none"}
