"""The last row of the table is refused; positions are 0 .. max_len - 1."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings - 1)).any()):
            raise ValueError("a position without a row")
        return self.table(positions)
