"""The weights are expanded to the batch of the tokens, and the tokens never to that of the weights."""

CAUGHT_BY = ["4.1b"]

import torch


def aggregate(x, weights, values=None):
    weights = weights.expand(*x.shape[:-2], *weights.shape[-3:])
    gathered = weights @ x.unsqueeze(-3)
    return (gathered if values is None else gathered @ values).sum(dim=-3)
