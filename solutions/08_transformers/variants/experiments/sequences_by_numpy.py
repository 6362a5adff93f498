"""Sequences are drawn by numpy, fillers first and then A and B by a random order of the row."""

import numpy
import torch


def draw_sequences(count, length, seed):
    drawn = numpy.random.default_rng(seed)
    row = numpy.concatenate((numpy.full((count, 1), A), numpy.full((count, 1), B)), axis=1)
    row = numpy.concatenate((row, drawn.integers(2, SYMBOLS, (count, length - 2))), axis=1)
    tokens = drawn.permuted(row, axis=1)
    labels = (tokens == A).argmax(axis=1) < (tokens == B).argmax(axis=1)
    return torch.from_numpy(tokens), torch.from_numpy(labels.astype("int64"))
