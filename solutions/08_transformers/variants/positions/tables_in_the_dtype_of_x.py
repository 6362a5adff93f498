"""Cosines and sines are computed in float32, then multiplied in the dtype of x."""

import torch


def rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    if dim % 2 != 0:
        raise ValueError("dim must be even")
    inv_freq = 1.0 / base ** (torch.arange(0, dim, 2, device=positions.device).float() / dim)
    freqs = positions.float()[..., None] * inv_freq
    cos, sin = freqs.cos().to(x.dtype), freqs.sin().to(x.dtype)
    x0, x1 = x.unflatten(-1, (-1, 2)).unbind(-1) if x.numel() else (x[..., ::2], x[..., 1::2])
    return torch.stack((x0 * cos - x1 * sin, x1 * cos + x0 * sin), -1).flatten(-2)
