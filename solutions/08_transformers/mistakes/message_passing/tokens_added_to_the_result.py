"""The tokens themselves are added to what was gathered; a residual connection is not part of the operator."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    out = gathered.sum(dim=-3)
    return out + x if out.shape == x.shape else out
