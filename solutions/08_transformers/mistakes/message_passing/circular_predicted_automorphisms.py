"""Turning the ring over leaves the neighbours as they are, but a generic kernel knows left from right; and there is no A here."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "conv_circular": "automorphisms"}
