"""The mask is float, and it must be boolean: `~` and `&` work on booleans."""

CAUGHT_BY = ["2.4b"]

import torch


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k).tril(n_k - n_q)
