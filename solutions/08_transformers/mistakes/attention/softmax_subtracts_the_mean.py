"""The mean is taken off and not the maximum, so one score far above the mean still overflows."""

CAUGHT_BY = ["2.1c"]


def softmax(x, dim):
    exponentials = (x - x.mean(dim=dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
