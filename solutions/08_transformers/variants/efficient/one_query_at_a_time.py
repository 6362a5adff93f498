"""The window is cut out for one query after the other."""

import math

import torch


def sliding_window_attention(q, k, v, window):
    out = []
    for i in range(q.shape[-2]):
        keys = slice(max(0, i - window + 1), i + 1)
        scores = (q[..., i : i + 1, :] @ k[..., keys, :].transpose(-2, -1)) * q.shape[-1] ** -0.5
        weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        out.append((weights / weights.sum(dim=-1, keepdim=True)) @ v[..., keys, :])
    return torch.cat(out, dim=-2)
