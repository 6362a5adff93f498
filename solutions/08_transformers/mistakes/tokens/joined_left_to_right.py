"""The first pair from the left that has been merged is joined; it must be the one that was merged first in training."""

CAUGHT_BY = ["1.9"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = single_bytes(word.encode())
        while True:
            found = next((pair for pair in pairwise(tokens) if pair in self.ranks), None)
            if found is None:
                return [self.ids[token] for token in tokens]
            tokens = join_pair(tokens, found)
