"""The result is made once and its rows are written as they come."""

import math

import torch


def chunked_attention(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out[..., start:stop, :] = attend_in_chunks(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0]
    return out
