"""The result sums to 1 along the last axis, whatever `dim` says."""

CAUGHT_BY = ["0.1a"]


def softmax(x, dim):
    exponentials = (x - x.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
