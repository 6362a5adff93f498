"""Positions are divided by the number of tokens, so that a code depends on how many there are."""

CAUGHT_BY = ["3.1a", "3.1b"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = (positions / max(positions.shape[-1], 1)).unsqueeze(-1) * base ** (
        -torch.arange(0, d, 2, dtype=torch.float64) / d
    )
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
