"""The result is written into x where x is float64 already, since x.double() is x then."""

CAUGHT_BY = ["3.3g"]

_rope = rope


def rope(x, positions, base=10000.0):
    turned = _rope(x, positions, base)
    wide = x.double()
    wide[:] = turned
    return wide.to(x.dtype)
