"""The file of one arm holds the weights of a model with other names."""

CAUGHT_BY = ["6.5a", "6.5e"]
