"""Cosines and sines are kept from the first call of this length, though positions may differ."""

CAUGHT_BY = ["3.3d"]

import torch

_kept = {}


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    key = (tuple(positions.shape), d, base)
    if key not in _kept:
        _kept[key] = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = _kept[key].cos(), _kept[key].sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)
