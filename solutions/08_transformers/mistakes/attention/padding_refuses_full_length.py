"""A sequence without padding, as long as n, is refused."""

CAUGHT_BY = ["2.4c"]

import torch


def padding_mask(lengths, n):
    ends = torch.nn.functional.one_hot(lengths.long(), n)
    return (ends.cumsum(-1) == 0)[:, None, :]
