"""Pairs by einops; results are views of something larger, or transposed in memory."""

import torch
from einops import einsum, rearrange, repeat


def _angles(positions, d, base):
    if d % 2:
        raise ValueError("pairs, please")
    frequencies = base ** (torch.arange(d // 2, device=positions.device) * (-2.0 / d))
    return einsum(positions.float(), frequencies, "... , f -> ... f")


def sinusoidal(positions, d, base=10000.0):
    angles = _angles(positions, d, base)
    both = torch.stack((angles.sin(), angles.cos(), angles), dim=0)
    return rearrange(both[:2], "two ... f -> ... (f two)")


def rope(x, positions, base=10000.0):
    angles = repeat(_angles(positions, x.shape[-1], base), "... f -> ... (f two)", two=2)
    pairs = rearrange(x, "... (f two) -> ... f two", two=2)
    turned = rearrange(torch.stack((-pairs[..., 1], pairs[..., 0]), -1), "... f two -> ... (f two)")
    out = (x * angles.cos() + turned * angles.sin()).to(x.dtype)
    return out.transpose(0, -1).contiguous().transpose(0, -1)
