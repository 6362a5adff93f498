"""A list of ids comes for each item; ids come one by one."""

CAUGHT_BY = ["1.17"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        for item in items:
            yield self.encode(item)
