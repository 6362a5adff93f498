"""The error does not say which position has no row, nor which positions there are."""

CAUGHT_BY = ["3.2e"]

class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        try:
            return super().forward(positions)
        except ValueError:
            raise ValueError("position out of range") from None
