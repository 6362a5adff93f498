"""Masked keys are multiplied away after exp, and the others normalised again."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    if mask is not None:
        powers = powers * mask
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return weights @ v, weights
