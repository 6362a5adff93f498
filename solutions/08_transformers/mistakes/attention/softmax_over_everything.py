"""The sum runs over the whole tensor: pass `dim` and keepdim=True to sum, so that each row sums to 1."""

CAUGHT_BY = ["2.1a"]


def softmax(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / exponentials.sum()
