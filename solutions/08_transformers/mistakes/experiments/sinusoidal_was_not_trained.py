"""The weights of the sinusoidal arm are those of a model that was never trained."""

CAUGHT_BY = ["6.6", "6.8", "6.12"]
