"""Spaces and line ends are lost in encoding: text is split at white space."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = []
        for place, piece in enumerate(cut_out(self.special_tokens, text)):
            if place % 2:
                ids.append(self.ids[piece.encode()])
                continue
            for word in regex.findall(r" ?\S+", piece):
                ids += [i for part in PATTERN.findall(word) for i in self.ids_of_word(part)]
        return ids
