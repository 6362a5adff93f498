"""What is left of an item is kept for the next one; items are separate documents."""

CAUGHT_BY = ["1.3a"]

class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        rest = ""
        for item in items:
            words = PATTERN.findall(rest + item)
            rest = words.pop() if words else ""
            yield from self.encode("".join(words))
        yield from self.encode(rest)
