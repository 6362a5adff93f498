"""Byte b is taken to have id b; in a vocabulary such as GPT-2's it has another one."""

CAUGHT_BY = ["1.2e"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        tokens = [self.vocab[id] for id in super().ids_of_word(word)]
        return [token[0] if len(token) == 1 else self.ids[token] for token in tokens]
