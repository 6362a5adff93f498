"""Feature i is paired with feature i + d/2; neighbours (2i, 2i + 1) are pairs."""

CAUGHT_BY = ["3.3a"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., : d // 2].double(), x[..., d // 2 :].double()
    return torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=-1).to(x.dtype)
