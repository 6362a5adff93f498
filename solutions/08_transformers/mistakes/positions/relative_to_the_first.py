"""Positions are counted from the first one given; a code belongs to the position itself."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    positions = positions + 1 - positions.reshape(-1)[0] if positions.numel() else positions
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
