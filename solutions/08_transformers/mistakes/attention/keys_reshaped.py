"""The keys are reshaped to (d, n), which scrambles them; they must be transposed."""

CAUGHT_BY = ["2.3a"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
