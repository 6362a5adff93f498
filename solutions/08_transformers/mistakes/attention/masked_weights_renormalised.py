"""Softmax over all keys, masked ones set to 0 afterwards and the rest divided by its sum: a loud masked key leaves 0 / 0."""

CAUGHT_BY = ["2.3j"]


import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask
        total = weights.sum(dim=-1, keepdim=True)
        weights = weights / total.masked_fill(total == 0, 1.0)
    return weights @ v, weights
