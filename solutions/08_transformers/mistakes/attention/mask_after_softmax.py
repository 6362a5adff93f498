"""The mask is applied after softmax, so the weights that are left no longer sum to 1."""

CAUGHT_BY = ["2.3b"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        weights = softmax(scores, dim=-1) * mask
    return weights @ v, weights
