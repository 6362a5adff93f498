"""Fillers are drawn from all symbols, so that A and B stand in a sequence more than once."""

CAUGHT_BY = ["6.1a"]

import torch


def draw_sequences(count, length, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, SYMBOLS, (count, length), generator=generator)
    places = torch.rand(count, length, generator=generator).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
