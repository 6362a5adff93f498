"""Items are joined into one text, so tokens reach from one document into the next."""

CAUGHT_BY = ["1.3a"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        return iter(self.encode("".join(items)))
