"""The values are used transposed: V_h is (d_in, d_out) and stands on the right of the tokens."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values.transpose(-2, -1)
    return gathered.sum(dim=-3)
