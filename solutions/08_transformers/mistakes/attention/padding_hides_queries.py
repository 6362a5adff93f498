"""The mask is (B, n, 1), which hides queries; padding is about keys, (B, 1, n)."""

CAUGHT_BY = ["2.4c"]

import torch


def padding_mask(lengths, n):
    return (torch.arange(n) < lengths[:, None])[:, :, None]
