"""Each sequence draws one filler and repeats it."""

CAUGHT_BY = ["6.1b"]

import torch

_draw_sequences = draw_sequences


def draw_sequences(count, length, seed):
    tokens, labels = _draw_sequences(count, length, seed)
    one = torch.randint(2, SYMBOLS, (count, 1), generator=torch.Generator().manual_seed(seed)).expand_as(tokens)
    return torch.where(tokens > B, one, tokens), labels
