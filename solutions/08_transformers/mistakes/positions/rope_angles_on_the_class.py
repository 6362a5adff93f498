"""The angles for the backward pass are kept on the class, where a second call replaces them."""

CAUGHT_BY = ["3.3g"]

import torch


class _Turn(torch.autograd.Function):
    angles = None

    @staticmethod
    def forward(ctx, x, angles):
        _Turn.angles = angles
        return _turned(x, angles)

    @staticmethod
    def backward(ctx, gradient):
        return _turned(gradient, -_Turn.angles), None


def _turned(x, angles):
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)


def rope(x, positions, base=10000.0):
    return _Turn.apply(x, angles_of(positions, x.shape[-1], base))
