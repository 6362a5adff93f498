"""RoPE of its own in float32, by complex numbers."""

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2, dtype=torch.float32, device=x.device) / d)
    angles = positions.float()[..., None] * frequencies
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)
