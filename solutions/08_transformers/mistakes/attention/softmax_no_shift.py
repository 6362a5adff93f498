"""exp of a score above 88 overflows, and where all are below -104 each is 0: take the largest score off first."""

CAUGHT_BY = ["2.1b"]


def softmax(x, dim):
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)
