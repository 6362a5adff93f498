"""Sequences are drawn one by one with the standard library."""

import random

import torch


def draw_sequences(count, length, seed):
    drawn = random.Random(seed)
    rows, labels = [], []
    for _ in range(count):
        row = drawn.choices(range(2, SYMBOLS), k=length)
        a, b = drawn.sample(range(length), 2)
        row[a], row[b] = A, B
        rows.append(row)
        labels.append(int(a < b))
    return torch.tensor(rows), torch.tensor(labels)
