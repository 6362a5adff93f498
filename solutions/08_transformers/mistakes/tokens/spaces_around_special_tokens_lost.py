"""Spaces beside special tokens are taken away; they belong to the text."""

CAUGHT_BY = ["1.2f"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = []
        pieces = cut_out(self.special_tokens, text)
        for place, piece in enumerate(pieces):
            if place % 2:
                ids.append(self.ids[piece.encode()])
            else:
                piece = piece.strip() if len(pieces) > 1 else piece
                ids += [i for word in PATTERN.findall(piece) for i in self.ids_of_word(word)]
        return ids
