"""squeeze() drops the axis of heads when there is one head only."""

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
            if padding == "circular":
                weights[h, i, j % n] = 1.0
            elif 0 <= j < n:
                weights[h, i, j] = 1.0
    return weights if padding == "circular" else weights.squeeze(0)
