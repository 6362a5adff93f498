"""The mask is multiplied into the scores: a score of 0 still has weight, exp(0) is 1."""

CAUGHT_BY = ["2.3b"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores * mask
        weights = softmax(scores, dim=-1)
    return weights @ v, weights
