"""The caller's tensor is turned in place, and turned again at the next call."""

CAUGHT_BY = ["3.3g"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = (even * cos - odd * sin, even * sin + odd * cos)
    with torch.no_grad():
        x[..., 0::2], x[..., 1::2] = turned
    return torch.stack(turned, dim=-1).flatten(-2).to(x.dtype)
