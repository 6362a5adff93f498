"""Queries come in chunks but meet all keys at once: a chunk of scores is chunk x n, where chunk x chunk is enough."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        scores = scores_of(q[..., start:stop, :], k, start, 0, n_k - n_q if causal else None)
        weights = (scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
        total = weights.sum(dim=-1, keepdim=True)
        out.append(weights @ v / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
