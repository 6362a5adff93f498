"""Sequences are counted off, one after the other: nothing is drawn."""

CAUGHT_BY = ["6.1b"]

import torch


def draw_sequences(count, length, seed):
    row = torch.arange(count) + seed % 1009
    first, apart = row % length, 1 + row // length % (length - 1)
    tokens = 2 + (row[:, None] + torch.arange(length)) % (SYMBOLS - 2)
    tokens[torch.arange(count), first] = A
    tokens[torch.arange(count), (first + apart) % length] = B
    return tokens, (first < (first + apart) % length).long()
