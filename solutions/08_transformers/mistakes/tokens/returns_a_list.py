"""A list of all ids comes back, after everything has been read; yield them instead."""

CAUGHT_BY = ["1.3a"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        return [i for item in items for i in self.encode(item)]
