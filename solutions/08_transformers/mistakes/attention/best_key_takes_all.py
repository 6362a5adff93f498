"""The best key takes all: weights are 1 for the largest score and 0 elsewhere, where softmax shares them out."""

CAUGHT_BY = ["2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.16"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = torch.nn.functional.one_hot(scores.argmax(-1), k.shape[-2]).to(q.dtype)
    if mask is not None:
        weights = weights * mask
    return weights @ v, weights
