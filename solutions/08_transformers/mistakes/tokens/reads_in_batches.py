"""Items are taken in batches of four, though the ids of the first are all that was asked for."""

CAUGHT_BY = ["1.3a"]

from itertools import islice


class Tokenizer(Tokenizer):
    def encode_iterable(self, items):
        items = iter(items)
        while batch := list(islice(items, 4)):
            for item in batch:
                yield from self.encode(item)
