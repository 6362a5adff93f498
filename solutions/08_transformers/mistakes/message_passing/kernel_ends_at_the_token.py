"""Head h reads position i + h - (size - 1), so no token sees what comes after it; the kernel's middle belongs to the token."""

CAUGHT_BY = ["4.3a", "4.3b"]


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    weights = torch.zeros(size, n, n)
    for h in range(size):
        for i in range(n):
            j = i + h - (size - 1)
            if padding == "circular":
                weights[h, i, j % n] = 1.0
            elif 0 <= j < n:
                weights[h, i, j] = 1.0
    return weights
