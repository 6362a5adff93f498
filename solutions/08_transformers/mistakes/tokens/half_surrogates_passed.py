"""Half a surrogate pair is encoded to bytes that are no UTF-8; it is no text, and a ValueError."""

CAUGHT_BY = ["1.2h"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        try:
            return super().encode(text)
        except UnicodeEncodeError:
            return [self.ids[bytes([b])] for b in text.encode("utf-8", "surrogatepass")]
