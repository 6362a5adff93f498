"""The normalised tokens take the place of the tokens, so that the sum is of normalised ones."""

CAUGHT_BY = ["6.2a"]


class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = self.attention_norm(x)
        x = x + self.attention(x, mask, positions)
        x = self.feed_forward_norm(x)
        return x + self.feed_forward(x)
