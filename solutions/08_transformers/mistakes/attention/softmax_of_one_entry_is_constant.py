"""Along an axis of length 1 softmax gives new ones, so that no gradient reaches x: it is 0 there, and not missing."""

CAUGHT_BY = ["2.1d"]

_softmax = softmax


def softmax(x, dim):
    return torch.ones_like(x) if x.shape[dim] == 1 else _softmax(x, dim)
