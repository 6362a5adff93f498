"""The mask is True where there is padding; True must say which keys *may* be attended to."""

CAUGHT_BY = ["2.4c"]

import torch


def padding_mask(lengths, n):
    return torch.arange(n) >= lengths[:, None, None]
