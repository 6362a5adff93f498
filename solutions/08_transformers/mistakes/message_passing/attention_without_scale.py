"""The scores are not divided by sqrt(d_k)."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1)
