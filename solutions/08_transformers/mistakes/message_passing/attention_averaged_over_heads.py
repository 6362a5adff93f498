"""The weights are averaged over the heads; each head has its own."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
    return weights.mean(dim=-3, keepdim=True).expand_as(weights)
