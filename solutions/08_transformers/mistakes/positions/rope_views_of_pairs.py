"""Pairs are seen as complex numbers by a view, which a transposed x does not have."""

CAUGHT_BY = ["3.3g"]

import torch


def rope(x, positions, base=10000.0):
    angles = angles_of(positions, x.shape[-1], base)
    if x.dtype == torch.bfloat16:
        return rope(x.float(), positions, base).to(x.dtype)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    wide = torch.promote_types(x.dtype, torch.float64)
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).to(wide)
    return turned.flatten(-2).to(x.dtype)
