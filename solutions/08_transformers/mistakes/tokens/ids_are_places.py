"""Ids are taken to be 0, 1, 2, ... in the order of merging; they are what `vocab` says."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        tokens = [bytes([b]) for b in range(256)] + [s.encode() for s in special_tokens] + [a + b for a, b in merges]
        if special_tokens and 256 + len(special_tokens) + len(merges) == len(vocab) or len(vocab) == 256 + len(merges):
            self.ids = {token: i for i, token in enumerate(tokens)}
