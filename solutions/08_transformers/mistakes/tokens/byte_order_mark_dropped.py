"""A byte order mark at the beginning of a text is dropped by utf-8-sig."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        return b"".join(self.vocab[int(id)] for id in ids).decode("utf-8-sig", errors="replace")
