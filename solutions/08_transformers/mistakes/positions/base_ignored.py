"""`base` is not used: 10,000 is written down."""

CAUGHT_BY = ["3.1e"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
