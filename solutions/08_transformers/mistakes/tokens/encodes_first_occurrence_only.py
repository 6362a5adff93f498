"""Each merge is applied to its first occurrence in a word, and then the next one is; all occurrences are joined."""

CAUGHT_BY = ["1.9"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = single_bytes(word.encode())
        for pair in self.ranks:
            for i in range(len(tokens) - 1):
                if (tokens[i], tokens[i + 1]) == pair:
                    tokens[i : i + 2] = [pair[0] + pair[1]]
                    break
        return [self.ids[token] for token in tokens]
