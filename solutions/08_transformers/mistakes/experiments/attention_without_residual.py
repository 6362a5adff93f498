"""Attention replaces the tokens instead of being added to them."""

CAUGHT_BY = ["6.2a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = self.attention(self.attention_norm(x), mask, positions)
        return x + self.feed_forward(self.feed_forward_norm(x))
