"""Queries and keys are exchanged: row i holds the scores of query i."""

CAUGHT_BY = ["4.5a"]


def attention_weights(q, k):
    return torch.softmax(k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)
