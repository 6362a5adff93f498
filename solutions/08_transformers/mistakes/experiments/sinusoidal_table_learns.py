"""The sinusoidal code is a parameter, and is trained away from the formula."""

CAUGHT_BY = ["6.4b"]

import torch
from torch import nn


class OrderModel(OrderModel):
    def __init__(self, position, causal):
        super().__init__(position, causal)
        if position == "sinusoidal":
            self.table = nn.Parameter(sinusoidal(torch.arange(4096), D_MODEL))

    def forward(self, tokens, positions=None):
        if self.position != "sinusoidal":
            return super().forward(tokens, positions)
        n = tokens.shape[-1]
        positions = torch.arange(n, device=tokens.device) if positions is None else positions
        x = self.embedding(tokens) + self.table[positions]
        mask = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril() if self.causal else None
        for block in self.blocks:
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
