"""The code works for one axis of positions only, not for a batch of them."""

CAUGHT_BY = ["3.1f"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    frequencies = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.outer(positions.double(), frequencies)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
