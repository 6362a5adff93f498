"""Half a surrogate pair is encoded as a question mark; it is no text, and a ValueError."""

CAUGHT_BY = ["1.2h"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        return super().encode(text.encode("utf-8", "replace").decode())
