"""The cache is a dict that `step` writes into: two continuations of one beginning see the tokens of each other."""

CAUGHT_BY = ["2.6c"]


class MultiHeadAttention(MultiHeadAttention):
    def step(self, x, cache):
        cache = {} if cache is None else cache
        earlier = (cache["k"], cache["v"]) if cache else None
        out, (cache["k"], cache["v"]) = super().step(x, earlier)
        return out, cache
