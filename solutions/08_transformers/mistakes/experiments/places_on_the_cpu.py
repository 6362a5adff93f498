"""Positions and mask are made on the CPU, and meet tokens on a GPU."""

CAUGHT_BY = ["6.3b"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        n = tokens.shape[-1]
        positions = torch.arange(n) if positions is None else positions
        x = self.embedding(tokens)
        if self.position == "sinusoidal":
            x = x + sinusoidal(positions, D_MODEL).to(x.dtype)
        elif self.position == "learned":
            x = x + self.code(positions)
        mask = torch.ones(n, n, dtype=torch.bool).tril() if self.causal else None
        for block in self.blocks:
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
