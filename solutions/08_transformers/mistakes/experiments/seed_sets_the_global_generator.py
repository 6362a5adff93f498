"""The seed is given to torch's global generator, so that drawing data disturbs every other random number."""

CAUGHT_BY = ["6.1b"]

import torch


def draw_sequences(count, length, seed):
    torch.manual_seed(seed)
    tokens = torch.randint(B + 1, SYMBOLS, (count, length))
    places = torch.rand(count, length).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
