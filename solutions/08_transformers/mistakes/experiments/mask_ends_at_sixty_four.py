"""The causal mask has MAX_LEN rows, though only the learned table ends there."""

CAUGHT_BY = ["6.3b"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        if self.causal and tokens.shape[-1] > MAX_LEN:
            raise IndexError("the mask ends here")
        return super().forward(tokens, positions)
