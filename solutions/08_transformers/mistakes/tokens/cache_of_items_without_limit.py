"""Every item is kept in a cache without a limit, so memory grows with the stream."""

CAUGHT_BY = ["1.3b"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        cache = {}
        for item in items:
            if item not in cache:
                cache[item] = self.encode(item)
            yield from cache[item]
