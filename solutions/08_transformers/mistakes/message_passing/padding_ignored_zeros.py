"""The padding is ignored: with zeros, too, what leaves at one end comes in at the other."""

CAUGHT_BY = ["4.3a"]


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    weights = torch.zeros(size, n, n)
    for h in range(size):
        for i in range(n):
            j = i + h - size // 2
            if True:
                weights[h, i, j % n] = 1.0
    return weights
