"""Codes are kept for each width and number of positions: other positions get those of the first call."""

CAUGHT_BY = ["3.1b"]

_sinusoidal, _kept = sinusoidal, {}


def sinusoidal(positions, d, base=10000.0):
    key = tuple(positions.shape), d, base
    if key not in _kept:
        _kept[key] = _sinusoidal(positions, d, base)
    return _kept[key]
