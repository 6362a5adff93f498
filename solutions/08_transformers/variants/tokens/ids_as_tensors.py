"""encode gives a tensor of ids, and encode_iterable chains and looks one item ahead."""

import torch


class Tokenizer(Tokenizer):
    def encode(self, text):
        return torch.tensor(super().encode(text), dtype=torch.int64)

    def encode_iterable(self, items):
        items = iter(items)
        item = next(items, None)
        while item is not None:
            ahead = next(items, None)
            yield from self.encode(item).tolist()
            item = ahead
