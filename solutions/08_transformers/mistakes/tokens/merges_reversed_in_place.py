"""The caller's list of merges is reversed: work on a copy."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        merges.reverse()
