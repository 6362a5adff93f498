"""Heads are counted from 0, so that the first slope is 1."""

CAUGHT_BY = ["3.5a"]

import torch


def alibi_bias(heads, n_q, n_k):
    slopes = 2.0 ** (-8.0 * torch.arange(heads) / heads)
    distances = (torch.arange(n_k - n_q, n_k)[:, None] - torch.arange(n_k)).abs()
    return -slopes[:, None, None] * distances
