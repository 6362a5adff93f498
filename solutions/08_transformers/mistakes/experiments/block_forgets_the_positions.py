"""The block does not hand the positions on to its attention, which counts from 0."""

CAUGHT_BY = ["6.3", "6.11"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.feed_forward(self.feed_forward_norm(x))
