"""The first pair from the left that has been merged is joined; it must be the one that was merged first in training."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        ids = [self.byte_ids[byte] for byte in word.encode()]
        while True:
            found = next((pair for pair in pairwise(ids) if pair in self.ranks), None)
            if found is None:
                return ids
            ids = join_pair(ids, found, self.joined[self.ranks[found]])
