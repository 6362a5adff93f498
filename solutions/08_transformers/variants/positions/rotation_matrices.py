"""A 2 x 2 matrix for each pair and token."""

import torch


def rope(x, positions, base=10000.0):
    *_, d = x.shape
    if d % 2 == 1:
        raise ValueError("the width must be even")
    theta = 1.0 / (base ** (torch.arange(0, d, 2, dtype=torch.float32, device=positions.device) / d))
    a = torch.einsum("...n,f->...nf", positions.to(torch.float32), theta)
    turn = torch.stack([torch.stack([a.cos(), -a.sin()], -1), torch.stack([a.sin(), a.cos()], -1)], -2)
    pairs = x.to(torch.float32).unflatten(-1, (d // 2, 2)).unsqueeze(-1)
    return (turn @ pairs).squeeze(-1).flatten(-2).to(x.dtype)
