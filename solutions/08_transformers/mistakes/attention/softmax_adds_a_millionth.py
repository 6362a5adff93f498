"""A millionth is added to the sum that softmax divides by, so that the probabilities do not sum to 1; none is needed."""

CAUGHT_BY = ["2.1a"]


def softmax(x, dim):
    exponentials = (x - x.amax(dim=dim, keepdim=True)).exp()
    return exponentials / (exponentials.sum(dim=dim, keepdim=True) + 1e-6)
