"""The first normalisation is used twice, the second never."""

CAUGHT_BY = ["6.2a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention(self.attention_norm(x), mask, positions)
        return x + self.feed_forward(self.attention_norm(x))
