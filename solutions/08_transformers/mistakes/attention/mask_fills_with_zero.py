"""Masked scores are filled with 0, which is a good score and not a forbidden one."""

CAUGHT_BY = ["2.3b"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, 0.0)
        weights = softmax(scores, dim=-1)
    return weights @ v, weights
