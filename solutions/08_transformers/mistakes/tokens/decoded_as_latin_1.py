"""Bytes are decoded as Latin-1, one character a byte; text is UTF-8."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        return b"".join(self.vocab[int(i)] for i in ids).decode("latin-1")
