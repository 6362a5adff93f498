"""`if not ids` is no question to ask of a tensor; use len()."""

CAUGHT_BY = ["1.2d"]

class Tokenizer(Tokenizer):
    def decode(self, ids):
        if not ids:
            return ""
        return super().decode(ids)
