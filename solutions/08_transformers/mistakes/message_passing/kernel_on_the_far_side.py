"""Head h reads position i + h + size // 2; half of the size is taken off, not added: i + h - size // 2."""

CAUGHT_BY = ["4.3a", "4.3b"]


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0:
        raise ValueError("the size of a kernel is odd")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    positions = torch.arange(n)
    offsets = torch.arange(size) + size // 2
    read = positions[:, None] + offsets[:, None, None]
    if padding == "circular":
        read = read % n
    return (read == positions).float()
