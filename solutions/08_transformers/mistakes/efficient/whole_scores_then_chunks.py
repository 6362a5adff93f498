"""The scores of all pairs were computed first and cut into chunks afterwards."""

CAUGHT_BY = ["5.1e", "5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    scores = scores_of(q, k, 0, 0, n_k - n_q if causal else None)
    out = []
    for part in scores.split(chunk, dim=-2):
        weights = (part - part.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
        total = weights.sum(dim=-1, keepdim=True)
        out.append(weights @ v / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2) if out else q.new_zeros(*q.shape[:-1], v.shape[-1])
