"""Weights and values only learn where the tokens need gradients, too."""

CAUGHT_BY = ["4.1b"]

import torch

_aggregate = aggregate


def aggregate(x, weights, values=None):
    with torch.set_grad_enabled(torch.is_grad_enabled() and x.requires_grad):
        return _aggregate(x, weights, values)
