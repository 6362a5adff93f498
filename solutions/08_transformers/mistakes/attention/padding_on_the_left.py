"""The last places are taken for tokens; sequences are padded at their end."""

CAUGHT_BY = ["2.4c"]

import torch


def padding_mask(lengths, n):
    return torch.arange(n) >= n - lengths[:, None, None]
