"""The maximum of the whole tensor is taken off, so a row far below it becomes 0 / 0; each row has its own."""

CAUGHT_BY = ["2.1c"]


def softmax(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
