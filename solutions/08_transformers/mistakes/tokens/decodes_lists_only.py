"""Ids of a tensor are looked up as tensors, which are keys of no dict; make them integers first."""

CAUGHT_BY = ["1.2d"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        return b"".join(self.vocab[i] for i in ids).decode("utf-8", errors="replace")
