"""All items are collected before the first id; take one when its ids are asked for."""

CAUGHT_BY = ["1.17", "1.18"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        for item in list(items):
            yield from self.encode(item)
