"""The mask becomes a bias of 0 and -inf that is added to the scores, 0 throughout for queries that may attend to nothing."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is None:
        weights = softmax(scores, dim=-1)
        return weights @ v, weights
    mask = mask.expand(scores.shape)
    someone = mask.any(dim=-1, keepdim=True)
    bias = torch.zeros_like(scores).masked_fill(~mask & someone, -torch.inf)
    weights = softmax(scores + bias, dim=-1) * someone
    return weights @ v, weights
