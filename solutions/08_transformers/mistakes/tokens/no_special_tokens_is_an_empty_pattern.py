"""Without special tokens the pattern is empty, and text is cut between any two characters."""

CAUGHT_BY = ["1.2i"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        if self.special_tokens:
            return super().encode(text)
        return [i for piece in text for word in PATTERN.findall(piece) for i in self.ids_of_word(word)]
