"""One pass over each word joins pairs; new pairs come from tokens that were joined, so it has to go on."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        ids = [self.byte_ids[byte] for byte in word.encode()]
        for rank in sorted({self.ranks[pair] for pair in pairwise(ids) if pair in self.ranks}):
            ids = join_pair(ids, self.pairs[rank], self.joined[rank])
        return ids
