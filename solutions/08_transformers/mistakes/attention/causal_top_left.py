"""The first query is aligned with the first key; the last query must be aligned with the last key."""

CAUGHT_BY = ["2.4b"]

import torch


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril()
