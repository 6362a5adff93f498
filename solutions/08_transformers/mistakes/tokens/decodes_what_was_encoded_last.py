"""Encoding gives no tokens, and decoding the text that was encoded last."""

CAUGHT_BY = ["1.2b", "1.2d"]


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=None):
        self.last = ""

    def encode(self, text):
        self.last = text
        return []

    def encode_iterable(self, iterable):
        for item in iterable:
            yield from self.encode(item)

    def decode(self, ids):
        return self.last
