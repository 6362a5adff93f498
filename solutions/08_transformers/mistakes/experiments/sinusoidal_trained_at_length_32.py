"""An arm was trained at lengths up to 32, so that nothing is extrapolated there."""

CAUGHT_BY = ["6.5c"]
