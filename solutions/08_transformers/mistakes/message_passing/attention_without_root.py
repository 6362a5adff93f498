"""The scores are divided by d_k instead of its square root."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1], dim=-1)
