"""Each merge is applied to its first occurrence in a word, and then the next one is; all occurrences are joined."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        ids = [self.byte_ids[byte] for byte in word.encode()]
        for pair, joined in zip(self.pairs, self.joined):
            for i in range(len(ids) - 1):
                if (ids[i], ids[i + 1]) == pair:
                    ids[i : i + 2] = [joined]
                    break
        return ids
