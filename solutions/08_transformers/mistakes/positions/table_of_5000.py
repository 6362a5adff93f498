"""A table of 5,000 rows is built, and a position beyond it has none; a formula needs no table."""

CAUGHT_BY = ["3.1c"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    places = torch.arange(-5000, 5000)
    angles = places.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
    return table[positions + 5000]
