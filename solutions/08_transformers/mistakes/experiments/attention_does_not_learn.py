"""What attention adds is cut off the graph, so that its parameters never learn."""

CAUGHT_BY = ["6.2c"]

class Block(Block):
    def forward(self, x, mask=None, positions=None):
        x = x + self.attention(self.attention_norm(x), mask, positions).detach()
        return x + self.feed_forward(self.feed_forward_norm(x))
