"""A nonlinearity is applied to the result; it stands between two layers, and not in the operator."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return torch.relu(gathered.sum(dim=-3))
