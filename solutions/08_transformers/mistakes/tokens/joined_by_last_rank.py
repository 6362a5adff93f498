"""The pair that was merged last is joined first; it is the other way round."""

CAUGHT_BY = ["1.9"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = single_bytes(word.encode())
        while True:
            known = [pair for pair in pairwise(tokens) if pair in self.ranks]
            if not known:
                return [self.ids[token] for token in tokens]
            tokens = join_pair(tokens, max(known, key=self.ranks.get))
