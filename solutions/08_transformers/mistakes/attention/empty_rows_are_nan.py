"""A query that may attend to nothing has only -inf as scores, and softmax of those is NaN; its output must be 0."""

CAUGHT_BY = ["2.3f"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, -torch.inf)
        weights = softmax(scores, dim=-1)
    return weights @ v, weights
