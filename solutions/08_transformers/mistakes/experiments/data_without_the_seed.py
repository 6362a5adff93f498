"""The seed is not used: every call gives other sequences."""

CAUGHT_BY = ["6.1b"]

import torch


def draw_sequences(count, length, seed):
    generator = None
    tokens = torch.randint(B + 1, SYMBOLS, (count, length), generator=generator)
    places = torch.rand(count, length, generator=generator).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
