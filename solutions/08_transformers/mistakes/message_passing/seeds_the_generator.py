"""torch.manual_seed inside a function changes the random numbers of everyone who calls it."""

CAUGHT_BY = ["4.5b"]


def mlp_weights(W):
    torch.manual_seed(0)
    return W.unsqueeze(0)
