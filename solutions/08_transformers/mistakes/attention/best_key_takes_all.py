"""The best key takes all: weights are 1 for the largest score and 0 elsewhere, where softmax shares them out."""

CAUGHT_BY = ["2.3a", "2.3b", "2.3c", "2.3d", "2.3e", "2.3f", "2.3g", "2.4a", "2.3i"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.nn.functional.one_hot(scores.argmax(-1), k.shape[-2]).to(q.dtype)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights
