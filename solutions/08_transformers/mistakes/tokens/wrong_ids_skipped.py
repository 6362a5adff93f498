"""Ids that are not in the vocabulary are skipped in silence; they are a LookupError."""

CAUGHT_BY = ["1.2h"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        return b"".join(self.vocab.get(int(i), b"") for i in ids).decode("utf-8", errors="replace")
