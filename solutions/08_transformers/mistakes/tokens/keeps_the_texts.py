"""Items are kept after they were encoded, so memory grows with the stream."""

CAUGHT_BY = ["1.3b"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        self.__dict__.setdefault("seen", []).append(text.encode())
        return super().encode(text)
