"""A tensor is made without a device, and meets those on a GPU."""

CAUGHT_BY = ["4.1b"]

import torch

_aggregate = aggregate


def aggregate(x, weights, values=None):
    heads = torch.ones(weights.shape[-3], dtype=x.dtype)[:, None, None]
    return _aggregate(x, weights * heads, values)
