"""The shorter of two special tokens wins; the longest that matches does."""

CAUGHT_BY = ["1.2g"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        if not self.special_tokens:
            return super().encode(text)
        ids = []
        for place, piece in enumerate(regex.split("(" + "|".join(map(regex.escape, self.special_tokens)) + ")", text)):
            if place % 2:
                ids.append(self.ids[piece.encode()])
            else:
                ids += [i for word in PATTERN.findall(piece) for i in self.ids_of_word(word)]
        return ids
