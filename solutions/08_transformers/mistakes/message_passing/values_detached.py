"""`.data` cuts the graph: no gradient reaches the values."""

CAUGHT_BY = ["4.1b"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values.data
    return gathered.sum(dim=-3)
