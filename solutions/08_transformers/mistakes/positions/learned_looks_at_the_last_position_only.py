"""Only the last position is compared with the table's size; any of them may be too large."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if positions.numel() and int(positions.flatten()[-1]) >= self.table.num_embeddings:
            raise ValueError("a position without a row")
        return self.table(positions.clamp(0, self.table.num_embeddings - 1))
