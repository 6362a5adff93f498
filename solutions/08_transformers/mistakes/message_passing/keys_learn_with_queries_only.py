"""Keys only learn where the queries need gradients, too."""

CAUGHT_BY = ["4.5b"]

_attention_weights = attention_weights


def attention_weights(q, k):
    return _attention_weights(q, k if q.requires_grad else k.detach())
