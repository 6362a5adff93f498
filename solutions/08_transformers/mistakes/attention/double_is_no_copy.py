"""`q.double()` is q itself where q is float64 already, so that scaling it in place changes the caller's tensor."""

CAUGHT_BY = ["2.3i"]

import math


def scaled_dot_product_attention(q, k, v, mask=None):
    wide = q.double()
    wide /= math.sqrt(q.shape[-1])
    scores = wide.to(q.dtype) @ k.transpose(-2, -1)
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
