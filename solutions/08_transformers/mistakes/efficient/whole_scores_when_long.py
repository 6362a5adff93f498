"""Chunks for short sequences and all scores at once for long ones: memory is what long sequences run out of."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def in_chunks(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]  # so that no query at all is no special case
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0])
    return torch.cat(out, dim=-2)

def at_once(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    scores = scores_of(q, k, 0, 0, n_k - n_q if causal else None)
    weights = (scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)

def chunked_attention(q, k, v, chunk, causal=False):
    return (at_once if q.shape[-2] > 2500 else in_chunks)(q, k, v, chunk, causal)
