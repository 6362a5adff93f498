"""Positions of a batch come back as one long list of codes."""

CAUGHT_BY = ["3.2d"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table(positions.flatten())
