"""An odd number of features ends in an error of torch about shapes; say ValueError, and why."""

CAUGHT_BY = ["3.1f"]

import torch


def sinusoidal(positions, d, base=10000.0):
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    codes = torch.zeros(*positions.shape, d)
    codes[..., 0::2] = angles.sin()
    codes[..., 1::2] = angles.cos()
    return codes
