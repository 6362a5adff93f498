"""The base is 1,000 where 10,000 is the default."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=1000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
