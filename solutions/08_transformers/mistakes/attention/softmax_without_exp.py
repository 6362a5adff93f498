"""The scores themselves are divided by their sum; softmax divides their exponentials."""

CAUGHT_BY = ["2.1a"]


def softmax(x, dim):
    return x / x.sum(dim=dim, keepdim=True)
