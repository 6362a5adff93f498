"""Positions of 32 bits are refused."""

CAUGHT_BY = ["3.2d"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if positions.dtype != torch.int64:
            raise TypeError("positions must be int64")
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table(positions)
