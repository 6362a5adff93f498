"""All sines come first, then all cosines; sine and cosine of a pair are neighbours."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.cat((angles.sin(), angles.cos()), dim=-1).float()
