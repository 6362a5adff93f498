"""The weights of the causal arm come from a model without a mask, which could not learn order."""

CAUGHT_BY = ["6.5b"]
