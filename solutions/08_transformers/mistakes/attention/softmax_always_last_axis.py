"""The result sums to 1 along the last axis, whatever `dim` says."""

CAUGHT_BY = ["2.1a"]

import torch


def softmax(x, dim):
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
