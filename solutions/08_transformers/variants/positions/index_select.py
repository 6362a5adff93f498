"""Rows are taken by index_select and put into shape; negative positions are looked for with a loop."""

import torch


class LearnedPositions(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Embedding(max_len, d)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, positions):
        if any(p < 0 or p >= self.max_len for p in positions.flatten().tolist()):
            raise ValueError(f"{int(positions.max())} or {int(positions.min())} has no row: positions go from 0 to {self.max_len - 1}")
        picked = torch.index_select(self.table.weight, 0, positions.flatten())
        return picked.view(positions.size() + picked.shape[1:])


def alibi_bias(heads, n_q, n_k):
    bias = torch.zeros(heads, n_q, n_k)
    for h in range(heads):
        for i in range(n_q):
            for j in range(n_k):
                bias[h, i, j] = -abs(i + n_k - n_q - j) / 2 ** (8 * (h + 1) / heads)
    return bias
