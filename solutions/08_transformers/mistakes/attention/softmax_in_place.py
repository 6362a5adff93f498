"""The maximum is taken off in place, which changes the tensor of the caller."""

CAUGHT_BY = ["2.1d"]

import torch


def softmax(x, dim):
    with torch.no_grad():
        x -= x.amax(dim=dim, keepdim=True)
    exponentials = x.exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
