"""sqrt(n) queries met all n keys at once: that is n to the power of 1.5, and the chunk that was asked for is one of keys, too."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, max(1, math.isqrt(n_k))):
        offset = n_k - n_q if causal else None
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, n_k, start, offset, n_k)[0])
    return torch.cat(out, dim=-2)
