"""Slopes are 2^-h for any number of heads; they are 2^(-8h / heads)."""

CAUGHT_BY = ["3.5a"]

import torch


def alibi_bias(heads, n_q, n_k):
    slopes = 2.0 ** (-1.0 * torch.arange(1, heads + 1))
    distances = (torch.arange(n_k - n_q, n_k)[:, None] - torch.arange(n_k)).abs()
    return -slopes[:, None, None] * distances
