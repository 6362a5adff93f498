"""Queries and keys are turned whenever positions are given; without rotary positions they play no part."""

CAUGHT_BY = ["2.5e"]


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        plain = self.rotary
        self.rotary = plain or (positions is not None and context is None)
        try:
            return super().forward(x, context, mask, positions)
        finally:
            self.rotary = plain
