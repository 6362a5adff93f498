"""The places that the lengths are compared with are made on the CPU, wherever the lengths are: pass device=lengths.device."""

CAUGHT_BY = ["2.3k"]

import torch


def padding_mask(lengths, n):
    return torch.arange(n) < lengths[:, None, None]
