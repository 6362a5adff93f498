"""Of special tokens that stand side by side only the first is kept."""

CAUGHT_BY = ["1.2f"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = super().encode(text)
        special = {self.ids[s.encode()] for s in self.special_tokens}
        return [i for place, i in enumerate(ids) if not (place and i in special and ids[place - 1] in special)]
