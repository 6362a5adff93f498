"""The outer loop runs over keys, the inner one over queries, and the sums of all queries are held."""

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    queries = chunks_of(n_q, chunk)
    largest = [q.new_full((*q.shape[:-2], j - i, 1), -1e30) for i, j in queries]
    total = [torch.zeros_like(each) for each in largest]
    mixed = [v.new_zeros(*q.shape[:-2], j - i, v.shape[-1]) for i, j in queries]
    for first, last in chunks_of(n_k, chunk):
        for b, (i, j) in enumerate(queries):
            scores = scores_of(q[..., i:j, :], k[..., first:last, :], i, first, offset)
            new = torch.maximum(largest[b], scores.detach().amax(dim=-1, keepdim=True))
            weights, rescale = (scores - new).exp(), (largest[b] - new).exp()
            total[b] = total[b] * rescale + weights.sum(dim=-1, keepdim=True)
            mixed[b] = mixed[b] * rescale + weights @ v[..., first:last, :]
            largest[b] = new
    rows = [m / t.masked_fill(t == 0, 1.0) for m, t in zip(mixed, total)]
    return torch.cat([v.new_zeros(*q.shape[:-2], 0, v.shape[-1]), *rows], dim=-2)
