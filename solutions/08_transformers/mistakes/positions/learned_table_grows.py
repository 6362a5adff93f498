"""A position beyond the table gets a row of random numbers that nobody trained."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        missing = int(positions.abs().max()) + 1 - self.table.num_embeddings if positions.numel() else 0
        weight = torch.cat((self.table.weight, torch.randn(max(missing, 0), self.table.embedding_dim)))
        return weight[positions]
