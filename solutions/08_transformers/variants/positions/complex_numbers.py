"""A pair is a complex number, a code a point on the circle, a rotation a product; all in float32."""

import math

import torch


def _points(positions, d, base):
    if d % 2 != 0:
        raise ValueError(f"d = {d} is odd")
    frequencies = torch.exp(torch.arange(0, d, 2, device=positions.device).float() * (-math.log(base) / d))
    angles = positions[..., None].float() * frequencies
    return torch.polar(torch.ones_like(angles), angles)


def sinusoidal(positions, d, base=10000.0):
    points = torch.view_as_real(_points(positions, d, base))
    return points.flip(-1).reshape(*positions.shape, d)


def rope(x, positions, base=10000.0):
    points = _points(positions, x.shape[-1], base)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], x.shape[-1] // 2, 2).contiguous())
    return torch.view_as_real(pairs * points).reshape(x.shape).to(x.dtype)
