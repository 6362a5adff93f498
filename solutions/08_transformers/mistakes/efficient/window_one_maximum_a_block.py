"""One maximum for a block of queries is taken off, also of keys that a query may not see: loud keys leave it nothing."""

CAUGHT_BY = ["5.3e"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    n, out = q.shape[-2], [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n, max(window, 64)):
        first = max(0, start - window + 1)
        scores = q[..., start:stop, :] @ k[..., first:stop, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
        distance = torch.arange(start, stop, device=q.device).unsqueeze(-1) - torch.arange(first, stop, device=q.device)
        weights = (scores - scores.amax(dim=(-2, -1), keepdim=True)).exp()
        weights = weights.masked_fill((distance < 0) | (distance >= window), 0.0)
        out.append(weights @ v[..., first:stop, :] / weights.sum(dim=-1, keepdim=True))
    return torch.cat(out, dim=-2)
