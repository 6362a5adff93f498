"""The causal mask was made for all n x n pairs, a bit for each: an eighth of the bytes is still a square."""

CAUGHT_BY = ["5.1e"]

import math

import torch


POWERS = torch.tensor([1, 2, 4, 8, 16, 32, 64, 128], dtype=torch.uint8)


def in_bits(rows, n_q, n_k, chunk):
    packed = torch.zeros(n_q, -(-n_k // 8), dtype=torch.uint8)
    for start, stop in chunks_of(n_q, chunk):
        packed[start:stop] = rows(start, stop)
    return packed


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    places = torch.arange(-(-n_k // 8) * 8)

    def future(start, stop):
        later = places > torch.arange(start, stop).unsqueeze(-1) + n_k - n_q
        return (later.unflatten(-1, (-1, 8)) * POWERS).sum(-1, dtype=torch.uint8)

    bits = in_bits(future, n_q, n_k, chunk) if causal else None
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        largest = q.new_full((*q.shape[:-2], stop - start, 1), -1e30)
        total, mixed = torch.zeros_like(largest), 0.0
        masked = None if bits is None else (bits[start:stop].unsqueeze(-1) & POWERS).flatten(-2) > 0
        for first, last in chunks_of(n_k, chunk):
            scores = scores_of(q[..., start:stop, :], k[..., first:last, :], 0, 0, None)
            if masked is not None:
                scores = scores.masked_fill(masked[:, first:last], -math.inf)
            new = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
            weights, rescale = (scores - new).exp(), (largest - new).exp()
            total = total * rescale + weights.sum(dim=-1, keepdim=True)
            mixed, largest = mixed * rescale + weights @ v[..., first:last, :], new
        out.append(mixed / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
