"""The token is returned as it is."""

CAUGHT_BY = ["3.3a", "3.3b", "3.3c", "3.4a"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    return x + 0 * cos.sum().to(x.dtype)
