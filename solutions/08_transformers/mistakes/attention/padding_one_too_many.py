"""The first place after the last token is let through: use `<` and not `<=`."""

CAUGHT_BY = ["2.4c"]

import torch


def padding_mask(lengths, n):
    return torch.arange(n) <= lengths[:, None, None]
