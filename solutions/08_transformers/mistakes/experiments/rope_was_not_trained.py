"""The weights of the arm with RoPE are those of a model that was never trained."""

CAUGHT_BY = ["6.5a", "6.5c", "6.5d", "6.5e"]
