"""Frequencies as exp(-log(base) i / (d / 2)) in float32, as many tutorials have it; slices are filled in."""

import math

import torch


def sinusoidal(positions, d, base=10000.0):
    if d & 1:
        raise ValueError(f"cannot pair {d} features")
    div_term = torch.exp(torch.arange(0, d, 2, device=positions.device).float() * -(math.log(base) / d))
    pe = torch.zeros(*positions.shape, d, device=positions.device)
    pe[..., 0::2] = torch.sin(positions.unsqueeze(-1) * div_term)
    pe[..., 1::2] = torch.cos(positions.unsqueeze(-1) * div_term)
    return pe


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    if d & 1:
        raise ValueError(f"cannot pair {d} features")
    half = d // 2
    frequencies = torch.exp(-math.log(base) * torch.arange(half, device=positions.device) / half)
    angles = (positions.unsqueeze(-1) * frequencies).repeat_interleave(2, dim=-1)
    swapped = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * angles.cos() + swapped * angles.sin()).to(x.dtype)
