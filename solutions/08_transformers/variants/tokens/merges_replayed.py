"""Encoding replays all merges in their order over each word, as training did."""

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        self.merges = merges

    def encode(self, text):
        output = []
        special = {s: self.ids[s.encode("utf-8")] for s in self.special_tokens}
        pieces = regex.split("(" + "|".join(regex.escape(s) for s in sorted(special, key=len, reverse=True)) + ")", text) if special else [text]
        for piece in pieces:
            if piece in special:
                output.append(special[piece])
                continue
            for word in regex.findall(PATTERN, piece):
                tokens = [bytes([b]) for b in word.encode("utf-8")]
                for a, b in self.merges:
                    i = 0
                    while i < len(tokens) - 1:
                        if tokens[i] == a and tokens[i + 1] == b:
                            tokens[i : i + 2] = [a + b]
                        i += 1
                output.extend(self.ids[token] for token in tokens)
        return output
