"""A position beyond the table is an IndexError of torch; the handout asks for a ValueError that says why."""

CAUGHT_BY = ["3.2b"]


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        return self.table(positions)
