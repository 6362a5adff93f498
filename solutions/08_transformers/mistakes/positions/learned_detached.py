"""The table is detached, so that no row ever learns."""

CAUGHT_BY = ["3.2c"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table.weight.detach()[positions]
