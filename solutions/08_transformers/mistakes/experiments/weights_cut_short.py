"""A file of weights is cut short."""

CAUGHT_BY = ["6.6", "6.12"]
