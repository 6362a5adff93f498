"""Position p gets row p - 1; positions begin with 0."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table((positions - 1) % self.table.num_embeddings)
