"""The mask is read the wrong way round: True means that the query may attend to the key."""

CAUGHT_BY = ["2.3b"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(mask, 0.0)
    return weights @ v, weights
