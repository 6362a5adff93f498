"""The block does not hand the positions on to its attention, which counts from 0."""

CAUGHT_BY = ["6.2b", "6.3b"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))
