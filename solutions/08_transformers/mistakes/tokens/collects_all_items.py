"""All items are collected before the first id; take one when its ids are asked for."""

CAUGHT_BY = ["1.3a", "1.3b"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        for item in list(items):
            yield from self.encode(item)
