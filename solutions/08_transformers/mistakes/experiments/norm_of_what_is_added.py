"""What attention and feed-forward network give is normalised, and not what they get."""

CAUGHT_BY = ["6.2a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention_norm(self.attention(x, mask, positions))
        return x + self.feed_forward_norm(self.feed_forward(x))
