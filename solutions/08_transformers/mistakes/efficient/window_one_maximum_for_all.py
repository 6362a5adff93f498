"""Each query takes its own largest score off: with one for all, rows far below it vanish."""

CAUGHT_BY = ["5.3e"]

import math

import torch


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    n = q.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n, max(window, 64)):  # not less than 64, or a small window is a long loop
        first = max(0, start - window + 1)
        keys = slice(first, stop)
        scores = q[..., start:stop, :] @ k[..., keys, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
        distance = torch.arange(start, stop).unsqueeze(-1) - torch.arange(first, stop)
        outside = ((distance < 0) | (distance >= window)).to(q.device)
        scores = scores.masked_fill(outside, -math.inf)  # each query sees itself, so no row is empty
        weights = (scores - scores.amax()).exp()
        out.append(weights @ v[..., keys, :] / weights.sum(dim=-1, keepdim=True).clamp_min(1e-30))
    return torch.cat(out, dim=-2)
