"""The tokens are gathered and added up, and the values are not used: each head's sum goes through its own matrix."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    return (weights @ x.unsqueeze(-3)).sum(dim=-3)
