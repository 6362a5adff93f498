"""Positions are clamped in place, which changes the caller's tensor."""

CAUGHT_BY = ["3.2d"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        codes = self.table(positions.clone())
        positions.zero_()
        return codes
