"""The empty text raises an error; it has no ids."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        assert text[0] is not None
        return super().encode(text)
