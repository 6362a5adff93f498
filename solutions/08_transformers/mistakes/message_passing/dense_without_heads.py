"""The axis of heads is missing: one head is (1, n, n)."""

CAUGHT_BY = ["4.2a"]


def mlp_weights(W):
    return W
