"""The axis of heads meets the axis of the batch: give x an axis for the heads, unsqueeze(-3)."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
