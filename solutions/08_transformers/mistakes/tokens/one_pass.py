"""One pass over each word joins pairs; new pairs come from tokens that were joined, so it has to go on."""

CAUGHT_BY = ["1.9"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = single_bytes(word.encode())
        known = [pair for pair in pairwise(tokens) if pair in self.ranks]
        for pair in sorted(known, key=self.ranks.get):
            tokens = join_pair(tokens, pair)
        return [self.ids[token] for token in tokens]
