"""The mask is True for the future; True must say who *may* be attended to."""

CAUGHT_BY = ["2.4b"]

import torch


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).triu(n_k - n_q + 1)
