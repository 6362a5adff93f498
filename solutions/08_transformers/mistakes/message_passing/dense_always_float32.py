"""The dense weights are float32 whatever W is; they should keep its dtype."""

CAUGHT_BY = ["4.2a"]


def mlp_weights(W):
    return W.float().unsqueeze(0)
