"""`positions` is not used: tokens stand at 0 .. n - 1 whatever it says."""

CAUGHT_BY = ["6.3b"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        n = tokens.shape[-1]
        positions = torch.arange(n)
        x = self.embedding(tokens)
        if self.position == "sinusoidal":
            x = x + sinusoidal(positions, D_MODEL).to(x)
        elif self.position == "learned":
            x = x + self.code(positions)
        mask = torch.ones(n, n, dtype=torch.bool).tril() if self.causal else None
        for block in self.blocks:
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
