"""The scale is the width of the values; it is the width of queries and keys that counts."""

CAUGHT_BY = ["2.3a"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(v.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
