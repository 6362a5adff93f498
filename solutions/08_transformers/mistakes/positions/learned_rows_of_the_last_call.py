"""The rows to learn are kept on the module, where a second call replaces them."""

CAUGHT_BY = ["3.2c"]

import torch


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, positions, module):
        ctx.module, module.last = module, positions
        ctx.rows = table.shape[0]
        return table[positions.long()]

    @staticmethod
    def backward(ctx, gradient):
        rows = ctx.module.last.reshape(-1)[: gradient.numel() // gradient.shape[-1]].long()
        flat = gradient.reshape(-1, gradient.shape[-1])[: len(rows)]
        return gradient.new_zeros(ctx.rows, gradient.shape[-1]).index_add(0, rows, flat), None, None


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        super().forward(positions)
        return _Rows.apply(self.table.weight, positions, self)
