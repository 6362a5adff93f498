"""No token attends to later ones; without a mask everyone is a neighbour."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores.masked_fill(~torch.ones_like(scores).tril().bool(), -1e9), dim=-1)
