"""Positions (B, n) are given an axis for heads, though x is (B, n, d) and has none."""

CAUGHT_BY = ["3.3d"]

_rope = rope


def rope(x, positions, base=10000.0):
    return _rope(x, positions.unsqueeze(1) if positions.ndim == 2 else positions, base)
