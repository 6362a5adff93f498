"""The average itself is kept up to date, and not a sum that is divided at the end."""

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        block = q[..., start:stop, :]
        log_total = q.new_full((*block.shape[:-1], 1), -1e30)
        mean = v.new_zeros(*block.shape[:-1], v.shape[-1])
        for first, last in chunks_of(n_k, chunk):
            scores = scores_of(block, k[..., first:last, :], start, first, offset).clamp_min(-1e38)
            new = torch.logaddexp(log_total, torch.logsumexp(scores, dim=-1, keepdim=True))
            seen = scores > -1e37
            weights = torch.where(seen, (scores - new).masked_fill(~seen, 0.0).exp(), 0.0)
            mean = mean * (log_total - new).exp() + weights @ v[..., first:last, :]
            log_total = new
        out.append(mean)
    return torch.cat(out, dim=-2)
