"""The output of a query that may attend to nothing is 0, but its weights are not."""

CAUGHT_BY = ["2.3f"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1)
        out = (weights @ v) * mask.expand(scores.shape).any(dim=-1, keepdim=True)
        return out, weights
    return weights @ v, weights
