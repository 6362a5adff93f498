"""A sequence of length 0 is taken for one of full length."""

CAUGHT_BY = ["2.4d"]

import torch


def padding_mask(lengths, n):
    lengths = torch.where(lengths == 0, n, lengths)
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]
