"""`+=` writes into the tokens that the block was given."""

CAUGHT_BY = ["6.2a"]

class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x.data += self.attention(self.attention_norm(x), mask, positions).data
        return x + self.feed_forward(self.feed_forward_norm(x))
