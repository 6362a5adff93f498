"""All tokens share one row of weights; a dense layer has a row for each of them."""

CAUGHT_BY = ["4.2a"]


def mlp_weights(W):
    return W[:1].expand_as(W).unsqueeze(0)
