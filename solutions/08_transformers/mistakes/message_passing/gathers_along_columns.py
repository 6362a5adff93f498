"""weights[i, j] is what i takes from j: the weights are used transposed, so each token gives where it should take."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights.transpose(-2, -1) @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered.sum(dim=-3)
