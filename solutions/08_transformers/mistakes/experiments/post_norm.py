"""The sum is normalised, and not what enters attention and feed-forward network: this is post-norm."""

CAUGHT_BY = ["6.2a", "6.3a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = self.attention_norm(x + self.attention(x, mask, positions))
        return self.feed_forward_norm(x + self.feed_forward(x))
