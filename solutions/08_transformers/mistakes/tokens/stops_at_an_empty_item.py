"""An empty item ends the stream; it has no ids, and those after it do."""

CAUGHT_BY = ["1.3a"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        for item in items:
            if not item:
                return
            yield from self.encode(item)
