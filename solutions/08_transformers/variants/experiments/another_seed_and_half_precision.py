"""Weights of another run, saved in half precision, with a buffer of their own beside the parameters."""

import torch


class OrderModel(OrderModel):
    def __init__(self, position, causal):
        super().__init__(position, causal)
        self.register_buffer("hidden", torch.ones(64, 64, dtype=torch.bool))
