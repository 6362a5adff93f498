"""A chunk need not divide n, and may be larger than n: reshaping into whole chunks fails there."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def chunked_attention(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    n_q, n_k = q.shape[-2], k.shape[-2]
    k.unflatten(-2, (n_k // chunk, chunk))
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]  # so that no query at all is no special case
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0])
    return torch.cat(out, dim=-2)
