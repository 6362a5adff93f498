"""Plain Python loops and math.sin, every number by itself; the result of `sinusoidal` is float64."""

import math

import torch


def sinusoidal(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("no odd widths")
    rows = []
    for p in positions.reshape(-1).tolist():
        row = []
        for i in range(d // 2):
            angle = p / base ** (2 * i / d)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64).reshape(*positions.shape, d)


def rope(x, positions, base=10000.0):
    d = x.shape[-1]
    code = sinusoidal(positions, d, base)
    features = []
    for i in range(0, d, 2):
        sin, cos = code[..., i].to(torch.float32), code[..., i + 1].to(torch.float32)
        features.append(x[..., i] * cos - x[..., i + 1] * sin)
        features.append(x[..., i] * sin + x[..., i + 1] * cos)
    return torch.stack(features, dim=-1).to(x.dtype)


class LearnedPositions(LearnedPositions):
    def forward(self, positions):
        flat = positions.reshape(-1).tolist()
        for p in flat:
            if not 0 <= p < self.table.num_embeddings:
                raise ValueError(f"no row for position {p}: there are {self.table.num_embeddings}, from 0 on")
        rows = [self.table.weight[p] for p in flat]
        if not rows:
            return torch.zeros(*positions.shape, self.table.embedding_dim)
        return torch.stack(rows).reshape(*positions.shape, -1)
