"""Axes of length 1 are squeezed away, a batch of one and a single token among them."""

CAUGHT_BY = ["4.1b"]

_aggregate = aggregate


def aggregate(x, weights, values=None):
    return _aggregate(x, weights, values).squeeze(0) if x.shape[0] == 1 else _aggregate(x, weights, values)
