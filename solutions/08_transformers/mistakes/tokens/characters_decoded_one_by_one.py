"""Each id is decoded by itself, so a character that is spread over several ids is lost."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        return "".join(self.vocab[int(i)].decode(errors="replace") for i in ids)
