"""The largest score of all queries is taken off, so a query whose scores are far lower becomes 0 / 0."""

CAUGHT_BY = ["2.3g"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = (scores - scores.max()).exp() / (scores - scores.max()).exp().sum(dim=-1, keepdim=True)
    else:
        powers = (scores - scores.max()).exp() * mask
        total = powers.sum(dim=-1, keepdim=True)
        weights = powers / total.masked_fill((~mask).all(dim=-1, keepdim=True).expand(total.shape), 1.0)
    return weights @ v, weights
