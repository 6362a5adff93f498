"""The weights are kept from the first call with tensors of this shape, and do not follow the data."""

CAUGHT_BY = ["4.6d"]


_kept = {}


def attention_weights(q, k):
    if q.shape not in _kept:
        _kept[q.shape] = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1).detach()
    return _kept[q.shape].clone()
