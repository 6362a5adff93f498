"""The values of `positions` are not used: the rows are the first n."""

CAUGHT_BY = ["3.2a"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        if bool(((positions < 0) | (positions >= self.table.num_embeddings)).any()):
            raise ValueError("a position without a row")
        count = torch.arange(positions.numel()).reshape(positions.shape)
        return self.table(count % self.table.num_embeddings)
