"""-10000 is no forbidden score when the allowed ones lie below it: use the lowest number of the dtype."""

CAUGHT_BY = ["2.3g"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, -1e4)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
