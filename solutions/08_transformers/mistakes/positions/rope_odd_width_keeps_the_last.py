"""Of an odd number of features the last one is left as it is; it is a ValueError."""

CAUGHT_BY = ["3.3h"]

import torch


def rope(x, positions, base=10000.0):
    d = x.shape[-1] // 2 * 2
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0:d:2].double(), x[..., 1:d:2].double()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)
    return torch.cat((turned, x[..., d:]), dim=-1).to(x.dtype)
