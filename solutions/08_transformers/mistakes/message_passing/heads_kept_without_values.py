"""Without values the heads are not added up: the result keeps an axis of heads."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    return gathered if values is None else (gathered @ values).sum(dim=-3)
