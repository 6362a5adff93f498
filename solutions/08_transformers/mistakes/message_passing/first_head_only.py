"""Only the first head is used."""

CAUGHT_BY = ["4.1a"]


def aggregate(x, weights, values=None):
    gathered = weights @ x.unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values
    return gathered[..., 0, :, :]
