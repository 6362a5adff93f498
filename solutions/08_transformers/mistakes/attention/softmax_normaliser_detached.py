"""The denominator is detached, so each gradient lacks the part that flows through the sum."""

CAUGHT_BY = ["2.1d"]


def softmax(x, dim):
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True).detach()
