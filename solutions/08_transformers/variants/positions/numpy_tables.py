"""Angles, sines and cosines by numpy, in float64."""

import numpy as np
import torch


def _angles(positions, d, base):
    if d % 2:
        raise ValueError(f"{d} is odd")
    return positions.numpy()[..., None] / np.power(base, np.arange(0, d, 2) / d)


def sinusoidal(positions, d, base=10000.0):
    angles = _angles(positions, d, base)
    table = np.empty((*angles.shape[:-1], d))
    table[..., 0::2], table[..., 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table)


def rope(x, positions, base=10000.0):
    angles = _angles(positions, x.shape[-1], base)
    cos, sin = torch.from_numpy(np.cos(angles)).float(), torch.from_numpy(np.sin(angles)).float()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(start_dim=-2).type_as(x)
