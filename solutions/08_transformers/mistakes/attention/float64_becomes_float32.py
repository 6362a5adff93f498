"""float64 comes in and float32 goes out: keep the dtype of the arguments."""

CAUGHT_BY = ["2.3a"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    q, k, v = (x.float() if x.dtype == torch.float64 else x for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
