"""These are powers of 2, not of e: without a factor of log2(e) the probabilities are too even."""

CAUGHT_BY = ["2.1a"]


def softmax(x, dim):
    powers = 2.0 ** (x - x.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)
