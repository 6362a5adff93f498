"""torch.roll wraps one row for each step, and only one is cleared: right for size 3, wrong for larger kernels."""

CAUGHT_BY = ["4.3a"]


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    heads = []
    for offset in range(-(size // 2), size // 2 + 1):
        shifted = torch.eye(n).roll(offset, dims=1)
        if padding == "zeros":
            if offset < 0 and -offset < n:
                shifted[0] = 0.0
            if offset > 0 and offset < n:
                shifted[-1] = 0.0
            if abs(offset) >= n:
                shifted.zero_()
        heads.append(shifted)
    return torch.stack(heads)
