"""Frequencies are kept from the first call with this width, whatever `base` later calls name."""

CAUGHT_BY = ["3.1e"]

import torch

_frequencies = {}


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    if d not in _frequencies:
        _frequencies[d] = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.unsqueeze(-1) * _frequencies[d]
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
