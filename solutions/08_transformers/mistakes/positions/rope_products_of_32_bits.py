"""Position times base is computed in 32 bits, which end at 214,748 times 10,000."""

CAUGHT_BY = ["3.3f"]

_rope = rope


def rope(x, positions, base=10000.0):
    wrapped = ((positions.long() * 10_000 + 2**31) % 2**32 - 2**31) // 10_000
    return _rope(x, wrapped, base)
