"""Queries and keys each take the fourth root of the width, and the scale comes after the mask."""

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    root = k.shape[-1] ** -0.25
    scores = torch.matmul(q * root, (k * root).transpose(-1, -2))
    if mask is None:
        weights = softmax(scores, dim=-1)
        return torch.matmul(weights, v), weights
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    weights = softmax(scores, dim=-1) * mask
    return torch.matmul(weights, v), weights
