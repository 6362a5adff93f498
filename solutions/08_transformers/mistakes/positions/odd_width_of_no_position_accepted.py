"""Where there is no position, nobody asks whether the width is odd."""

CAUGHT_BY = ["3.1f", "3.3h"]

import torch

_sinusoidal, _rope = sinusoidal, rope


def sinusoidal(positions, d, base=10000.0):
    return _sinusoidal(positions, d, base) if positions.numel() else torch.zeros(*positions.shape, d)


def rope(x, positions, base=10000.0):
    return _rope(x, positions, base) if x.numel() else x.clone()
