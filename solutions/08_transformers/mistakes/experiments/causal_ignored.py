"""`causal` is not used: every token sees all others."""

CAUGHT_BY = ["6.3a", "6.5b"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        n = tokens.shape[-1]
        positions = torch.arange(n) if positions is None else positions
        x = self.embedding(tokens)
        if self.position == "sinusoidal":
            x = x + sinusoidal(positions, D_MODEL).to(x)
        elif self.position == "learned":
            x = x + self.code(positions)
        mask = None
        for block in self.blocks:
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
