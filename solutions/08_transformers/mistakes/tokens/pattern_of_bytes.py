"""Text is encoded first and cut by a pattern for bytes, which knows no letters beyond ASCII."""

CAUGHT_BY = ["1.2j"]

_OF_BYTES = regex.compile(PATTERN.pattern.encode())


class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = []
        for place, piece in enumerate(cut_out(self.special_tokens, text)):
            if place % 2:
                ids.append(self.ids[piece.encode()])
                continue
            for word in _OF_BYTES.findall(piece.encode()):
                ids += self.join_one_by_one([self.byte_ids[byte] for byte in word])
        return ids
