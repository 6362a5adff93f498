"""Special tokens are looked for only at the end of the text; they may stand anywhere."""

CAUGHT_BY = ["1.2f"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        for special in self.special_tokens:
            if text.endswith(special):
                return self.encode(text[: -len(special)]) + [self.ids[special.encode()]]
        return [i for word in PATTERN.findall(text) for i in self.ids_of_word(word)]
