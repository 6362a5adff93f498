"""Padded to whole blocks; each block of queries meets its own block of keys and the one before, all in one product."""

import math

import torch


def sliding_window_attention(q, k, v, window):
    n = q.shape[-2]
    window_or_n = min(window, n)
    fill = -n % window_or_n
    q, k, v = (torch.nn.functional.pad(x, (0, 0, 0, fill)) for x in (q, k, v))
    blocks = (n + fill) // window_or_n
    cut = lambda x: x.unflatten(-2, (blocks, window_or_n))
    before = lambda x: torch.nn.functional.pad(cut(x), (0, 0, 0, 0, 1, 0))[..., :-1, :, :]
    keys, values = (torch.cat((before(x), cut(x)), dim=-2) for x in (k, v))
    scores = cut(q) @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
    i = torch.arange(blocks * window_or_n, device=q.device).reshape(blocks, window_or_n, 1)
    first = torch.arange(0, blocks * window_or_n, window_or_n, device=q.device).reshape(blocks, 1, 1)
    j = torch.arange(-window_or_n, window_or_n, device=q.device) + first
    seen = (j >= 0) & (i - j >= 0) & (i - j < window)
    scores = scores.masked_fill(~seen, -math.inf)
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    out = (weights / weights.sum(dim=-1, keepdim=True)) @ values
    return out.flatten(-3, -2)[..., :n, :]
