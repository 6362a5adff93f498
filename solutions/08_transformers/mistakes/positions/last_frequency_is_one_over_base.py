"""The exponents end at 1, divided by d / 2 - 1; with 2i / d they stop short of it."""

CAUGHT_BY = ["3.1a"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    half = torch.arange(d // 2, dtype=torch.float64) / max(d // 2 - 1, 1)
    angles = positions.unsqueeze(-1) * base**-half
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
