"""`high` of torch.randint is exclusive: the last symbol is never drawn."""

CAUGHT_BY = ["6.1b"]

import torch


def draw_sequences(count, length, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(B + 1, SYMBOLS - 1, (count, length), generator=generator)
    places = torch.rand(count, length, generator=generator).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
