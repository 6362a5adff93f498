"""The weights that are given back are those without the mask, though the outputs obey it."""

CAUGHT_BY = ["2.5d"]


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        out, weights = super().forward(x, context, mask, positions)
        return out, weights if mask is None else super().forward(x, context, None, positions)[1]
