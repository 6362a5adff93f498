"""An axis is put into batched positions that have one for the heads already."""

CAUGHT_BY = ["3.3d"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    positions = positions.unsqueeze(1) if positions.dim() > 1 else positions
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)
