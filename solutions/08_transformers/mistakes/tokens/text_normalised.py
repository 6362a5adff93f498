"""The text is normalised (NFKC) before it is encoded; every character has to come back as it was."""

CAUGHT_BY = ["1.2b"]

import unicodedata


class Tokenizer(Tokenizer):
    def encode(self, text):
        return super().encode(unicodedata.normalize("NFKC", text))
