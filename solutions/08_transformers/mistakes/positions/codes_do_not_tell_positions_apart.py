"""Every position has the same code."""

CAUGHT_BY = ["3.1a", "3.4a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack(((0 * angles).sin(), (0 * angles).cos()), dim=-1).flatten(-2).float()
