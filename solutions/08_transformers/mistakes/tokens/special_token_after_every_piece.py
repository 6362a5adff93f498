"""A special token is put after every piece of text, the last one included."""

CAUGHT_BY = ["1.2f"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        if not self.special_tokens:
            return super().encode(text)
        first = self.special_tokens[0]
        pieces = text.split(first)
        ids = []
        for piece in pieces:
            ids += super().encode(piece) + [self.ids[first.encode()]]
        return ids[: -1 if len(pieces) == 1 else None]
