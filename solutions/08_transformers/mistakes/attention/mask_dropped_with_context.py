"""The mask is used in self-attention only: with a context every query attends to all of it."""

CAUGHT_BY = ["2.5c"]


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        return super().forward(x, context, mask if context is None else None, positions)
