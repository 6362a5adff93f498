"""The weights are detached, so that attention could never learn where to look."""

CAUGHT_BY = ["4.1b"]


def aggregate(x, weights, values=None):
    gathered = weights.detach() @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
