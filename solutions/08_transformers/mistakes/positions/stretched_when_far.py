"""Frequencies change where positions exceed 2,000: the codes there are no rotation of the others."""

CAUGHT_BY = ["3.1d"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    farthest = int(positions.abs().max()) if positions.numel() else 0
    base = base * max(1.0, farthest / 2000)
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
