"""The rows of W go through softmax; a dense layer's weights are its parameters as they are."""

CAUGHT_BY = ["4.2a"]


def mlp_weights(W):
    return torch.softmax(W, dim=-1).unsqueeze(0)
