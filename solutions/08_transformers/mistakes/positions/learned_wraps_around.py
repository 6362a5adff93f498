"""A position beyond the table gets the row of its remainder."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        return self.table(positions % self.table.num_embeddings)
