"""A mask over the keys alone, (n_k,), is refused; any mask that broadcasts to (..., n_q, n_k) is one."""

CAUGHT_BY = ["2.3c"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        n_q, n_k = mask.shape[-2:]
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
