"""Text is encoded without cutting it into pre-tokens; tokens join across words."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = []
        for place, piece in enumerate(cut_out(self.special_tokens, text)):
            ids += [self.ids[piece.encode()]] if place % 2 else self.ids_of_word(piece.replace(" ", "") if " " in piece.strip() else piece)
        return ids
