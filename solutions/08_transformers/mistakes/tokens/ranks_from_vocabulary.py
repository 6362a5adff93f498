"""Tokens are joined by the order of `vocab`, whether or not `merges` holds the pair."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = single_bytes(word.encode())
        while True:
            known = [pair for pair in pairwise(tokens) if pair[0] + pair[1] in self.ids]
            if not known:
                return [self.ids[token] for token in tokens]
            first, second = min(known, key=lambda pair: self.ids[pair[0] + pair[1]])
            tokens = join_pair(tokens, (first, second), first + second)
