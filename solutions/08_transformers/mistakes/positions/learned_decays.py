"""A penalty on the whole table is hidden in the look-up, so that rows never used get a gradient."""

CAUGHT_BY = ["3.2c"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        weight = self.table.weight
        return self.table(positions) + 1e-2 * (weight - weight.detach()).sum()
