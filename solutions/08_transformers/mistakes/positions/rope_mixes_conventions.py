"""Frequencies are laid out for neighbouring pairs, but halves are rotated into one another: it is no rotation."""

CAUGHT_BY = ["3.3a", "3.3b", "3.3c"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
    halves = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), dim=-1)
    return (x * cos + halves * sin).to(x.dtype)
