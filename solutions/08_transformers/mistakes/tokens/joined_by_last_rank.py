"""The pair that was merged last is joined first; it is the other way round."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        ids = [self.byte_ids[byte] for byte in word.encode()]
        while True:
            known = [self.ranks[pair] for pair in pairwise(ids) if pair in self.ranks]
            if not known:
                return ids
            ids = join_pair(ids, self.pairs[max(known)], self.joined[max(known)])
