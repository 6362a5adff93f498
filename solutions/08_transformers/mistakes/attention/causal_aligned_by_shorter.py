"""With more queries than keys the first queries attend to the first key; they stand before it and attend to nothing."""

CAUGHT_BY = ["2.4b"]

import torch


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(max(n_k - n_q, 0))
