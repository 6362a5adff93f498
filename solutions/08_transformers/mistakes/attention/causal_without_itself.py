"""A query may not attend to its own position: the diagonal belongs to the past and the present."""

CAUGHT_BY = ["2.4b"]

import torch


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q - 1)
