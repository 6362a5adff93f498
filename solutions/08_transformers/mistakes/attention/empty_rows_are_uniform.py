"""A query that may attend to nothing averages all values, as its scores are equally low; it must get weights 0."""

CAUGHT_BY = ["2.3f"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, -1e9)
        weights = softmax(scores, dim=-1)
    return weights @ v, weights
