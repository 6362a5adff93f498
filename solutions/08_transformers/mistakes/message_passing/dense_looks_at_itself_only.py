"""Only the diagonal of W is used: then no token is anyone's neighbour."""

CAUGHT_BY = ["4.2a"]


def mlp_weights(W):
    return torch.diag(W.diagonal()).unsqueeze(0)
