"""Scores are clamped from above, so very good keys look like good ones; softmax takes the maximum off anyway."""

CAUGHT_BY = ["2.3d"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).clamp(max=20.0)
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
