"""A masked score is lowered by 30 and not replaced, so a key with a score high enough is still seen."""

CAUGHT_BY = ["2.4a"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores - 30.0 * ~mask
        weights = softmax(scores, dim=-1) * mask.expand(scores.shape).any(dim=-1, keepdim=True)
    return weights @ v, weights
