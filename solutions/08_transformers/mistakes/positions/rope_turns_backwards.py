"""The pairs turn by -a: the signs of the two sines are exchanged."""

CAUGHT_BY = ["3.3a"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack((even * cos + odd * sin, odd * cos - even * sin), dim=-1).flatten(-2).to(x.dtype)
