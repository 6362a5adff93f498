"""Checkpointing each step of the inner loop keeps what goes in and out of every step, once for each pair of chunks: that grows with n squared, too."""

CAUGHT_BY = ["5.2e", "5.2f"]

import math

import torch


from torch.utils.checkpoint import checkpoint


def one_step(q, k, v, largest, total, mixed, first_query, first_key, offset):
    scores = scores_of(q, k, first_query, first_key, offset)
    new = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
    weights, rescale = (scores - new).exp(), (largest - new).exp()
    return new, total * rescale + weights.sum(dim=-1, keepdim=True), mixed * rescale + weights @ v


def flash_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        queries = q[..., start:stop, :]
        largest = q.new_full((*queries.shape[:-1], 1), -1e30)
        total, mixed = torch.zeros_like(largest), v.new_zeros(*queries.shape[:-1], v.shape[-1])
        for first, last in chunks_of(last_key(stop - 1, n_q, n_k) if causal else n_k, chunk):
            largest, total, mixed = checkpoint(
                one_step, queries, k[..., first:last, :], v[..., first:last, :], largest, total, mixed,
                start, first, offset, use_reentrant=False,
            )
        out.append(mixed / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
