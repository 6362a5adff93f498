"""Spaces at the ends of the text are stripped; they are text."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        return super().encode(text.strip())
