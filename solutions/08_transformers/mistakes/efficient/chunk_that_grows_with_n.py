"""The chunk was an eighth of the sequence, whatever was asked for: its scores are n x n / 64 numbers, which is a square."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    chunk = max(1, max(q.shape[-2], k.shape[-2]) // 8)
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0])
    return torch.cat(out, dim=-2)
