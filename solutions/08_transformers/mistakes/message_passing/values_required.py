"""Without values each head maps by the identity; here `values=None` raises an error."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    return (weights @ x.unsqueeze(-3) @ values).sum(dim=-3)
