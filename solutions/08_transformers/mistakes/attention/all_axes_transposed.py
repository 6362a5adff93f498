"""`k.T` reverses all axes: with a batch only the last two may be exchanged."""

CAUGHT_BY = ["2.3a"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.permute(*reversed(range(k.dim()))) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
