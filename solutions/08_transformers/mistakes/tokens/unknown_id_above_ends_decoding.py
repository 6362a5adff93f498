"""Ids beyond the last one of the vocabulary end the text without an error."""

CAUGHT_BY = ["1.2h"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        kept = []
        for id in map(int, ids):
            if id > max(self.vocab):
                break
            kept.append(id)
        return super().decode(kept)
