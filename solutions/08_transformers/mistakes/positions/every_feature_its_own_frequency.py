"""Sine and cosine of a pair have different frequencies; both have base^(-2i / d)."""

CAUGHT_BY = ["3.1a", "3.1d"]

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd width")
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(d, dtype=torch.float64) / d)
    codes = torch.empty(*positions.shape, d)
    codes[..., 0::2], codes[..., 1::2] = angles[..., 0::2].sin(), angles[..., 1::2].cos()
    return codes
