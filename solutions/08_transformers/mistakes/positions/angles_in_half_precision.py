"""Angles are held in bfloat16, which knows 8 bits of them."""

CAUGHT_BY = ["3.1a", "3.1c"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = angles.bfloat16().float()
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
