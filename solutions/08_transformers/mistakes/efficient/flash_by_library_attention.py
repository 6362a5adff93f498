"""Library attention computed it: fast and small, but writing it is the exercise."""

CAUGHT_BY = ["5.2a", "5.2b", "5.2e", "5.2f"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    if causal and n_q > n_k:
        empty = v.new_zeros(*q.shape[:-2], n_q - n_k, v.shape[-1]) * q[..., : n_q - n_k, :1]
        return torch.cat((empty, flash_attention(q[..., n_q - n_k :, :], k, v, chunk, True)), dim=-2)
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q) if causal else None
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
