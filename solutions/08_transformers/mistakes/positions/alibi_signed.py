"""Keys after the query gain; the distance is never negative."""

CAUGHT_BY = ["3.5a"]

import torch


def alibi_bias(heads, n_q, n_k):
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    distances = torch.arange(n_k - n_q, n_k)[:, None] - torch.arange(n_k)
    return -slopes[:, None, None] * distances
