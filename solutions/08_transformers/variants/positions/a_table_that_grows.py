"""Cosines and sines are kept in a table that grows when a position lies beyond it, one for each width and base."""

import torch

_tables = {}


def _table(d, base, farthest):
    if d % 2:
        raise ValueError("odd")
    have = _tables.get((d, base))
    if have is None or len(have) <= farthest:
        n = max(512, 2 ** (farthest + 1).bit_length())
        frequencies = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)])
        angles = torch.arange(n)[:, None] * frequencies
        have = _tables[d, base] = torch.stack((angles.sin(), angles.cos()), dim=-1)
    return have


def _sines_and_cosines(positions, d, base):
    farthest = int(positions.abs().max()) if positions.numel() else 0
    rows = _table(d, base, farthest)[positions.abs().long()]
    return rows[..., 0] * positions.sign().unsqueeze(-1), rows[..., 1]


def sinusoidal(positions, d, base=10000.0):
    return torch.stack(_sines_and_cosines(positions, d, base), dim=-1).view(*positions.shape, d)


def rope(x, positions, base=10000.0):
    sin, cos = _sines_and_cosines(positions, x.shape[-1], base)
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2).to(x.dtype)
