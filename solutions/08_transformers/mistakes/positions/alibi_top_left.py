"""The first query stands at the first key; the last query must stand at the last key."""

CAUGHT_BY = ["3.5a"]

import torch


def alibi_bias(heads, n_q, n_k):
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    distances = (torch.arange(n_q)[:, None] - torch.arange(n_k)).abs()
    return -slopes[:, None, None] * distances
