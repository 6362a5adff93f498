"""`q *= ...` scales the queries of the caller as well."""

CAUGHT_BY = ["2.3i"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    with torch.no_grad():
        q /= math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1)
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
