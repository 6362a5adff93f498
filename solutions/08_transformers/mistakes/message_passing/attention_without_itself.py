"""No token attends to itself; everyone is a neighbour, oneself included."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    n = scores.shape[-1]
    return torch.softmax(scores.masked_fill(torch.eye(n).bool(), -1e9), dim=-1)
