"""Only | is escaped in the pattern of special tokens; a.b is found in axb, too."""

CAUGHT_BY = ["1.2g"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        if not self.special_tokens:
            return super().encode(text)
        ids = []
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        for place, piece in enumerate(regex.split("(" + "|".join(s.replace("|", "[|]") for s in longest_first) + ")", text)):
            if place % 2:
                ids.append(self.ids.get(piece.encode(), 0))
            else:
                ids += [i for word in PATTERN.findall(piece) for i in self.ids_of_word(word)]
        return ids
