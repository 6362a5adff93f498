"""The weights are float32 whatever queries and keys are."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(q.float() @ k.float().transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
