"""A table of codes and a causal mask are buffers, and part of the state_dict."""

import torch


class OrderModel(OrderModel):
    def __init__(self, position, causal):
        super().__init__(position, causal)
        self.register_buffer("hidden", ~torch.ones(64, 64, dtype=torch.bool).tril())
        self.register_buffer("waves", sinusoidal(torch.arange(64), D_MODEL))

    def forward(self, tokens, positions=None):
        n = tokens.size(1)
        positions = torch.arange(n) if positions is None else positions
        x = self.embedding(tokens)
        if self.position == "sinusoidal":
            x = x + self.waves[positions]
        if self.position == "learned":
            x = x + self.code.table.weight[positions]
        mask = ~self.hidden[:n, :n] if self.causal else torch.ones(n, n, dtype=torch.bool)
        for block in self.blocks:
            x = block(x, mask=mask, positions=positions)
        return self.head(torch.einsum("bnd->bd", self.norm(x)) / n)
