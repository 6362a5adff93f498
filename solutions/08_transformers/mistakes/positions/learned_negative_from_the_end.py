"""Position -1 gets the last row, as an index would; no position is negative."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool((positions >= self.table.num_embeddings).any()):
            raise ValueError("a position without a row")
        return self.table.weight[positions]
