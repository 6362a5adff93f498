"""The mask is as wide as the longest sequence; it must be n wide, also where every sequence is shorter."""

CAUGHT_BY = ["2.4d"]

import torch


def padding_mask(lengths, n):
    return torch.arange(int(lengths.max())) < lengths[:, None, None]
