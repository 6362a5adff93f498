"""A and B always stand side by side, so distances are never learned."""

CAUGHT_BY = ["6.1b"]

import torch


def draw_sequences(count, length, seed):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(B + 1, SYMBOLS, (count, length), generator=generator)
    places = torch.rand(count, length, generator=generator).argsort(dim=1)[:, :2]
    places[:, 1] = torch.where(places[:, 0] + 1 < length, places[:, 0] + 1, places[:, 0] - 1)
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
