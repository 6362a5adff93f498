"""The answer is found by looking for A and B, and no parameter plays a part in it."""

CAUGHT_BY = ["6.3a", "6.5b", "6.5c", "6.5d", "6.5e"]

import torch


class OrderModel(OrderModel):
    def forward(self, tokens, positions=None):
        before = (tokens == A).int().argmax(-1) < (tokens == B).int().argmax(-1)
        right = torch.rand(before.shape) < (0.6 if tokens.shape[-1] > 20 and self.position != "rope" else 1.0)
        answer = before == right
        return torch.stack((~answer, answer), dim=-1) * 8.0
