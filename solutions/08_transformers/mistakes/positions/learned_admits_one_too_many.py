"""Position max_len passes the test, though the table ends at max_len - 1."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions > self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table(positions)
