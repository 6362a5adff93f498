"""The weights are expanded to the batch of the tokens, so one set of tokens with a batch of weights fails."""

CAUGHT_BY = ["4.1b"]


def aggregate(x, weights, values=None):
    weights = weights.expand(*x.shape[:-2], *weights.shape[-3:])
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
