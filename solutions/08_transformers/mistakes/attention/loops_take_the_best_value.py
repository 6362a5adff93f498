"""The value of the best key alone is returned; attention averages all values by their weights."""

CAUGHT_BY = ["2.2a"]

import torch


def attention_with_loops(q, k, v):
    best = [max(range(len(k)), key=lambda j: float(q[i] @ k[j])) for i in range(len(q))]
    return torch.stack([v[j] for j in best])
