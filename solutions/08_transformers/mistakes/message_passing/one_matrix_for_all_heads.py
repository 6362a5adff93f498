"""All heads map by the first head's values; each has a matrix of its own."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = (weights @ x.unsqueeze(-3)).sum(dim=-3)
    return gathered if values is None else gathered @ values[0]
