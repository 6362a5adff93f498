"""The axis of heads is missing: one head is (1, n, n)."""

CAUGHT_BY = ["4.3"]


def mlp_weights(W):
    return W
