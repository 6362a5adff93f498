"""The code is added before every block; it is added once, to the embedded symbols."""

CAUGHT_BY = ["6.3a"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        n = tokens.shape[-1]
        positions = torch.arange(n) if positions is None else positions
        x = self.embedding(tokens)
        code = {"sinusoidal": lambda: sinusoidal(positions, D_MODEL).to(x), "learned": lambda: self.code(positions)}
        mask = torch.ones(n, n, dtype=torch.bool).tril() if self.causal else None
        for block in self.blocks:
            x = x + code[self.position]() if self.position in code else x
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
