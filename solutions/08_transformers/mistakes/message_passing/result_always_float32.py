"""The result is float32 whatever comes in; it should have the dtype of the tokens."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights.float() @ x.float().unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values.float()
    return gathered.sum(dim=-3)
