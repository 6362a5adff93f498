"""Special tokens go into a pattern unescaped, where | and . mean something else."""

CAUGHT_BY = ["1.2g"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        if not self.special_tokens:
            return super().encode(text)
        ids = []
        for piece in regex.split("(" + "|".join(sorted(self.special_tokens, key=len, reverse=True)) + ")", text):
            if piece in self.special_tokens:
                ids.append(self.ids[piece.encode()])
            else:
                ids += [i for word in PATTERN.findall(piece) for i in self.ids_of_word(word)]
        return ids
