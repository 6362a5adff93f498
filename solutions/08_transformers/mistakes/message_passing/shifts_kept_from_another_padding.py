"""Weights are kept from the first call of that size, whatever its padding was: a cache needs every argument in its key."""

CAUGHT_BY = ["4.7b"]


_kept = {}


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    if (n, size) in _kept:
        return _kept[n, size].clone()
    weights = torch.zeros(size, n, n)
    for h in range(size):
        for i in range(n):
            j = i + h - size // 2
            if padding == "circular":
                weights[h, i, j % n] = 1.0
            elif 0 <= j < n:
                weights[h, i, j] = 1.0
    _kept[n, size] = weights.clone()
    return weights
