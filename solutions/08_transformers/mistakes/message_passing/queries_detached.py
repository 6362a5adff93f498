"""The queries are detached, so nothing teaches a token what to look for."""

CAUGHT_BY = ["4.5b"]


def attention_weights(q, k):
    return torch.softmax(q.detach() @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
