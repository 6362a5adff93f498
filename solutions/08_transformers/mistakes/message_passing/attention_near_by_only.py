"""Tokens more than eight apart do not see each other: that is a window, and attention sees everyone."""

CAUGHT_BY = ["4.6b"]


def attention_weights(q, k):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    places = torch.arange(scores.shape[-1])
    far = (places[:, None] - places).abs() > 8
    return torch.softmax(scores.masked_fill(far, -1e9), dim=-1)
