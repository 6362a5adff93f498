"""An empty tensor of positions is an error, since it has no largest one; its codes are empty."""

CAUGHT_BY = ["3.1f"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    assert positions.max() < 10**9
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).float()
