"""The error for a position without a row lists a thousand numbers, so that it does not say which of them was asked for."""

CAUGHT_BY = ["3.2e"]

from torch import nn


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Embedding(max_len, d)

    def forward(self, positions):
        rows = self.table.num_embeddings
        if bool(((positions < 0) | (positions >= rows)).any()):
            raise ValueError(f"no row: {list(range(1000))}")
        return self.table(positions)
