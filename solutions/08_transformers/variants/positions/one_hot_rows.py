"""The look-up is a product with one-hot rows; the error is a subclass of ValueError."""

import torch


class UnknownPosition(ValueError):
    pass


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        rows = self.table.weight.shape[0]
        hot = positions.unsqueeze(-1) == torch.arange(rows)
        if not bool(hot.any(-1).all()):
            raise UnknownPosition(f"of {positions.tolist()} not all are in 0 .. {rows - 1}")
        return hot.to(self.table.weight.dtype) @ self.table.weight
