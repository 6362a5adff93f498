"""The scores less their maximum are divided by their sum; softmax divides their exponentials."""

CAUGHT_BY = ["2.1a"]


def softmax(x, dim):
    shifted = x - x.amax(dim=dim, keepdim=True)
    return shifted / shifted.sum(dim=dim, keepdim=True)
