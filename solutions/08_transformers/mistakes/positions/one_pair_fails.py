"""One pair of features is fewer than the formula expects: d = 2 fails."""

CAUGHT_BY = ["3.1f"]

_sinusoidal = sinusoidal


def sinusoidal(positions, d, base=10000.0):
    if d == 2:
        raise IndexError("no second pair")
    return _sinusoidal(positions, d, base)
