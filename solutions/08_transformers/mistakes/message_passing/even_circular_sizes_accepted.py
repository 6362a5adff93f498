"""Only with zeros an even size is refused."""

CAUGHT_BY = ["4.3c"]

import torch

_conv_weights = conv_weights


def conv_weights(n, size, padding):
    if padding != "circular" or size % 2:
        return _conv_weights(n, size, padding)
    read = (torch.arange(n)[:, None] + torch.arange(size)[:, None, None] - size // 2) % n
    return (read == torch.arange(n)).float()
