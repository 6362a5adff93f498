"""The scores are divided by the root of heads * d_k; the width of one head counts."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1] * q.shape[-3]), dim=-1)
