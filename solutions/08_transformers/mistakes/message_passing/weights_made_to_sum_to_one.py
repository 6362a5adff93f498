"""The weights are divided by their row's sum; the operator takes them as they are."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights / weights.sum(dim=-1, keepdim=True) @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
