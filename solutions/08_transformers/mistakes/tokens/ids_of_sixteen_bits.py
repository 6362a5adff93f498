"""Ids are kept in 16 bits, and those beyond 65,535 become others."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        return [id & 0xFFFF for id in super().encode(text)]
