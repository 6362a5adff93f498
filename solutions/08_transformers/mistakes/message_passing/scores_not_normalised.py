"""The scores are returned as they are; softmax makes weights of them."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
