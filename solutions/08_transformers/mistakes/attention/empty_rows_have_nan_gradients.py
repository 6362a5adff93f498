"""The NaN of a query that may attend to nothing is replaced too late: its gradient is NaN; avoid it before softmax."""

CAUGHT_BY = ["2.3f"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
        weights = softmax(scores, dim=-1)
        weights = torch.where(weights.isnan(), 0.0, weights)
    return weights @ v, weights
