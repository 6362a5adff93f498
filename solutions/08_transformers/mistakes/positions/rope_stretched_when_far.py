"""The base grows where positions exceed 2,048: what is turned there fits no other rotation."""

CAUGHT_BY = ["3.3f"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    farthest = int(positions.abs().max()) if positions.numel() else 0
    base = base * max(1.0, farthest / 2048)
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)
