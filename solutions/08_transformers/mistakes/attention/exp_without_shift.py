"""exp of a score above 88 overflows: take the largest score of each query off first, or call your softmax."""

CAUGHT_BY = ["2.3g"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
