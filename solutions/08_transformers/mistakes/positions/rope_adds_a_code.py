"""A sinusoidal code is added; RoPE turns the token instead."""

CAUGHT_BY = ["3.3a", "3.3b"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    return (x + torch.stack((sin, cos), dim=-1).flatten(-2)).to(x.dtype)
