"""Codes are multiplied by sqrt(d), as token embeddings are in some models; a code is the row as it is."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        return self.table(positions) * self.table.embedding_dim**0.5
