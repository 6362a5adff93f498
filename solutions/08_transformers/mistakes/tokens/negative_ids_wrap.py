"""A list of tokens answers to negative ids, from its end; they are no ids."""

CAUGHT_BY = ["1.2h"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        tokens = list(self.vocab.values()) if sorted(self.vocab) == list(range(len(self.vocab))) else self.vocab
        return b"".join(tokens[int(i)] for i in ids).decode("utf-8", errors="replace")
