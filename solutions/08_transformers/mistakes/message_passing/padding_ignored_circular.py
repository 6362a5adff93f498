"""The padding is ignored: with circular padding, too, there is nothing beyond the ends."""

CAUGHT_BY = ["4.3b"]


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    weights = torch.zeros(size, n, n)
    for h in range(size):
        for i in range(n):
            j = i + h - size // 2
            if 0 <= j < n:
                weights[h, i, j] = 1.0
    return weights
