"""Positions are sorted before the look-up, so that codes come in another order than positions."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table(positions.sort(dim=-1).values)
