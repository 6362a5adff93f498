"""Library attention computed it: fast and small, but writing it is the exercise."""

CAUGHT_BY = ["5.1a", "5.1b", "5.1e", "5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q) if causal else None
    return getattr(torch.nn.functional, "scaled_dot_product" + "_attention")(q, k, v, mask).nan_to_num(0.0)
