"""A cosine is a sine, a quarter turn ahead: sin(x + pi / 2)."""

import math

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d is odd")
    i = torch.arange(d, device=positions.device)
    phase = (i % 2) * (math.pi / 2)
    frequency = torch.pow(torch.tensor(float(base), device=positions.device), -(i - i % 2) / d)
    return torch.sin(positions.unsqueeze(-1) * frequency + phase)


def rope(x, positions, base=10000.0):
    code = sinusoidal(positions, x.shape[-1], base)
    sin, cos = code[..., ::2], code[..., 1::2]
    out = torch.empty(torch.broadcast_shapes(x.shape, code.shape), dtype=x.dtype)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out
