"""The cosine comes first in each pair; feature 2i is the sine."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.cos(), angles.sin()), dim=-1).flatten(-2).float()
