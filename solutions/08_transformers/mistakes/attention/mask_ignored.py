"""The mask is never used."""

CAUGHT_BY = ["2.3b"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = softmax(scores, dim=-1)
    return weights @ v, weights
