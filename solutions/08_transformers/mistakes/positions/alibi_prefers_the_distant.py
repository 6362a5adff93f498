"""The bias is positive: what is far away would gain."""

CAUGHT_BY = ["3.5a"]

import torch


def alibi_bias(heads, n_q, n_k):
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    distances = (torch.arange(n_k - n_q, n_k)[:, None] - torch.arange(n_k)).abs()
    return slopes[:, None, None] * distances
