"""With one key the values are returned at once, so that no gradient reaches queries and keys: it is 0, and not missing."""

CAUGHT_BY = ["2.2b"]

with_several_keys = attention_with_loops


def attention_with_loops(q, k, v):
    return v.expand(q.shape[0], -1) if k.shape[0] == 1 else with_several_keys(q, k, v)
