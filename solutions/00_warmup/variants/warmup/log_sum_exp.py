"""exp(x - logsumexp(x)): the same in logarithms."""


def softmax(x, dim):
    return (x - x.logsumexp(dim=dim, keepdim=True)).exp()
