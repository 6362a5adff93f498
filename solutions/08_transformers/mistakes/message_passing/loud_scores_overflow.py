"""exp of the scores, which is infinite beyond 88 in float32: take the largest score off first."""

CAUGHT_BY = ["4.5b"]

def attention_weights(q, k):
    found = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp()
    return found / found.sum(-1, keepdim=True)
