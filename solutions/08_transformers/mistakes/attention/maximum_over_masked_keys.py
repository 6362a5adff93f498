"""The largest score is taken over all keys, masked ones included: a masked key louder by 200 leaves nothing of the others."""

CAUGHT_BY = ["2.3j"]


import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    if mask is not None:
        powers = powers * mask
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return weights @ v, weights
