"""An odd number of features loses its last cosine; it is a ValueError."""

CAUGHT_BY = ["3.1f"]

import torch


def sinusoidal(positions, d, base=10000.0):
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)[..., :d].float()
