"""One pair of features is fewer than the formula expects: d = 2 fails."""

CAUGHT_BY = ["3.3h"]

_rope = rope


def rope(x, positions, base=10000.0):
    if x.shape[-1] == 2:
        raise IndexError("no second pair")
    return _rope(x, positions, base)
