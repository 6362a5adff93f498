"""The weights are a new tensor made of W's numbers, so no gradient flows back to W."""

CAUGHT_BY = ["4.5b"]


def mlp_weights(W):
    return torch.tensor(W.tolist(), dtype=W.dtype).unsqueeze(0)
