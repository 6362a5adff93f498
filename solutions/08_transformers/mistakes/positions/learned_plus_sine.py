"""A sinusoidal code is added to the row."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        waves = torch.sin(positions.unsqueeze(-1) * torch.ones(self.table.embedding_dim))
        return self.table(positions) + waves
