"""For long sequences the causal mask was made for all n x n pairs: memory is what long sequences run out of."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    future = torch.ones(n_q, n_k, dtype=torch.bool).triu(n_k - n_q + 1) if causal and n_k > 2500 else None
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        offset = n_k - n_q if causal and future is None else None
        largest = q.new_full((*q.shape[:-2], stop - start, 1), -1e30)
        total, mixed = torch.zeros_like(largest), 0.0
        for first, last in chunks_of(n_k, chunk):
            scores = scores_of(q[..., start:stop, :], k[..., first:last, :], start, first, offset)
            if future is not None:
                scores = scores.masked_fill(future[start:stop, first:last], -math.inf)
            new = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
            weights, rescale = (scores - new).exp(), (largest - new).exp()
            total = total * rescale + weights.sum(dim=-1, keepdim=True)
            mixed, largest = mixed * rescale + weights @ v[..., first:last, :], new
        out.append(mixed / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
