"""k.permute(0, 2, 1) works for three axes only; transpose(-2, -1) works for any number."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q @ k.permute(0, 2, 1) / math.sqrt(q.shape[-1]), dim=-1)
