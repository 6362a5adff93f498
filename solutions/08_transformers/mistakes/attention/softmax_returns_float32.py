"""Half precision comes in and float32 goes out: convert the result back to the dtype of `x`."""

CAUGHT_BY = ["2.1c"]

import torch


def softmax(x, dim):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    exponentials = (wide - wide.amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
