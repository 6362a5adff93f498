"""The submission makes float64 torch's default: tables and results without an argument to follow are float64."""

import torch

torch.set_default_dtype(torch.float64)


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("odd d")
    angles = positions[..., None] * torch.tensor([base ** (-i / d) for i in range(0, d, 2)], device=positions.device)
    return torch.stack([torch.sin(angles), torch.cos(angles)], dim=-1).flatten(-2)


def rope(x, positions, base=10000.0):
    code = sinusoidal(positions, x.shape[-1], base)
    sin, cos = code[..., 0::2], code[..., 1::2]
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(x.dtype)
