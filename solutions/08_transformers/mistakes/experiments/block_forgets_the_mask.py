"""The block does not hand the mask on to its attention."""

CAUGHT_BY = ["6.2b", "6.3a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention(self.attention_norm(x), positions=positions)
        return x + self.feed_forward(self.feed_forward_norm(x))
