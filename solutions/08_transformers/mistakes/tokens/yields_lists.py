"""A list of ids comes for each item; ids come one by one."""

CAUGHT_BY = ["1.3a"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        for item in items:
            yield self.encode(item)
