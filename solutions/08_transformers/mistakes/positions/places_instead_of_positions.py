"""The values of `positions` are not used: the codes are those of 0 .. n - 1."""

CAUGHT_BY = ["3.1b"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    count = torch.arange(positions.numel()).reshape(positions.shape)
    angles = count.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
