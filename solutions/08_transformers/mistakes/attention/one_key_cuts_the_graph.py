"""With one key the values are returned at once, so that no gradient reaches queries and keys: it is 0, and not missing."""

CAUGHT_BY = ["2.3h"]


import math


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if k.shape[-2] == 1 and mask is None:
        return v.expand(*q.shape[:-1], v.shape[-1]).clone(), torch.ones_like(scores)
    weights = softmax(scores, dim=-1) if mask is None else softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
