"""All n x n scores were computed at once; `chunk` plays no part."""

CAUGHT_BY = ["5.1e", "5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    scores = scores_of(q, k, 0, 0, n_k - n_q if causal else None)
    weights = (scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)
