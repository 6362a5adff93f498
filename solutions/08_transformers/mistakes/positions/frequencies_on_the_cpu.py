"""The frequencies are made without a device, and meet positions on a GPU."""

CAUGHT_BY = ["3.3i"]

import torch


def angles_of(positions, d, base):
    if d % 2:
        raise ValueError("odd width")
    return positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
