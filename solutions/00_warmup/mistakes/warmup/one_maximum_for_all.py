"""The largest score of the whole tensor is taken off, so a row far below it becomes 0 / 0; each row needs its own maximum."""

CAUGHT_BY = ["0.1c"]


def softmax(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
