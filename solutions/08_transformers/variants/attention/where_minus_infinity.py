"""Masked scores become -inf, and the NaN of queries that may attend to nothing is replaced after softmax."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(softmax(scores, dim=-1), nan=0.0)
    return weights @ v, weights
