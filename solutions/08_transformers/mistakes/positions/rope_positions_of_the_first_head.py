"""Positions of three axes are taken to be the same for all heads; they broadcast, and may differ between heads."""

CAUGHT_BY = ["3.3d"]

_turn = rope


def rope(x, positions, base=10000.0):
    return _turn(x, positions[:, :1] if positions.dim() == 3 else positions, base)
