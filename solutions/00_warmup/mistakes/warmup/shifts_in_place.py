"""The maximum is taken off in place (`x -= ...`), which changes the caller's tensor."""

CAUGHT_BY = ["0.1d"]


def softmax(x, dim):
    x -= x.amax(dim=dim, keepdim=True)
    exponentials = x.exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
