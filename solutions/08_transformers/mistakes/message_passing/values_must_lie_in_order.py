"""`view` asks for values that lie in memory in order; a permuted kernel does not."""

CAUGHT_BY = ["4.1b"]

def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is None:
        return gathered.sum(dim=-3)
    heads, d_in, d_out = values.shape
    side_by_side = gathered.transpose(-3, -2).flatten(-2)
    return side_by_side @ values.view(heads * d_in, d_out)
