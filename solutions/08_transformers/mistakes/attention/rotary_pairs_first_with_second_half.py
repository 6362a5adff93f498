"""Feature i is paired with feature i + d/2; neighbours (2i, 2i + 1) are pairs."""

CAUGHT_BY = ["2.6b"]

import torch


def rotate_pairs(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.double().unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    first, second = x[..., : d // 2].double(), x[..., d // 2 :].double()
    turned = (first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos())
    return torch.cat(turned, dim=-1).to(x.dtype)
