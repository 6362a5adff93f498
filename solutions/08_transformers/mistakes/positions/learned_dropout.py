"""Dropout is part of the look-up, so that codes are random in training."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return nn.functional.dropout(self.table(positions), 0.5)
