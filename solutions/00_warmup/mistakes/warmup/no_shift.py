"""exp of a score above 88 overflows: the largest score has to be taken off first."""

CAUGHT_BY = ["0.1b"]


def softmax(x, dim):
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)
