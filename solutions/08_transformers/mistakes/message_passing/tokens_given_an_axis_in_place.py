"""unsqueeze_ gives the caller's own tensor another axis; without the underscore it makes a view."""

CAUGHT_BY = ["4.1b"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze_(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
