"""All tokenizers share one cache of words; each has merges and ids of its own."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    cache = {}

    def ids_of_word(self, word):
        if word not in self.cache:
            self.cache[word] = super().ids_of_word(word)
        return self.cache[word]
