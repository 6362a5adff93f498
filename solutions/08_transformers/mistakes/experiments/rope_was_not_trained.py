"""The weights of the arm with RoPE are those of a model that was never trained."""

CAUGHT_BY = ["6.6", "6.8", "6.9", "6.12"]
