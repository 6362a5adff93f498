"""Softmax goes over the queries; each query's weights over the keys must sum to 1."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-2)
