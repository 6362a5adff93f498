"""The exponent is 4i / d: the index of the feature is 2i already, and it was doubled again."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-2 * torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
