"""The pairs are turned by the negative angle: (x0 cos + x1 sin, x1 cos - x0 sin)."""

CAUGHT_BY = ["2.6b"]

import torch


def rotate_pairs(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = -positions.double().unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = (even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos())
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
