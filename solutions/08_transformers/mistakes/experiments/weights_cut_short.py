"""A file of weights is cut short."""

CAUGHT_BY = ["6.5a", "6.5e"]
