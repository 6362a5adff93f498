"""A row that is used twice learns half as fast: its gradient is divided by how often it was used."""

CAUGHT_BY = ["3.2c"]

from torch import nn


class LearnedPositions(LearnedPositions):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        self.table = nn.Embedding(max_len, d, scale_grad_by_freq=True)
