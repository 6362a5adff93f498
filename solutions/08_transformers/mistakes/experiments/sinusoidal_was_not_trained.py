"""The weights of the sinusoidal arm are those of a model that was never trained."""

CAUGHT_BY = ["6.5a", "6.5c", "6.5e"]
