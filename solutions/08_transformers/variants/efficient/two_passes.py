"""First the logarithm of each total, then the average: two passes over the keys."""

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        block = q[..., start:stop, :]
        logs = [
            torch.logsumexp(scores_of(block, k[..., i:j, :], start, i, offset).clamp_min(-1e30), dim=-1, keepdim=True)
            for i, j in chunks_of(n_k, chunk)
        ]
        total = torch.logsumexp(torch.cat(logs, dim=-1), dim=-1, keepdim=True)
        total = total.masked_fill(total < -1e29, 0.0)
        mixed = v.new_zeros(*block.shape[:-1], v.shape[-1])
        for i, j in chunks_of(n_k, chunk):
            mixed = mixed + (scores_of(block, k[..., i:j, :], start, i, offset) - total).exp() @ v[..., i:j, :]
        out.append(mixed)
    return torch.cat(out, dim=-2)
