"""Attention is part 2's, with rotary positions, which has the same names."""

from attention import MultiHeadAttention


class SelfAttention(MultiHeadAttention):
    def __init__(self, d_model, heads, rotary=False):
        super().__init__(d_model, heads, rotary=rotary)

    def forward(self, x, mask=None, positions=None):
        return super().forward(x, mask=mask, positions=positions)[0]
