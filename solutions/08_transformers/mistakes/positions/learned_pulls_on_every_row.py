"""The mean of the table is taken off, so that every row gets a gradient from every position."""

CAUGHT_BY = ["3.2c"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return (self.table.weight - self.table.weight.mean(dim=0))[positions]
