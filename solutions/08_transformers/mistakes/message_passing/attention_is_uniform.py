"""Every token gets the same weight, whatever queries and keys say."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    n = q.shape[-2]
    return torch.ones_like(q @ k.transpose(-2, -1)) / n
