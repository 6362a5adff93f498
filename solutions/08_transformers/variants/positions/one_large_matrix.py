"""A d x d matrix for each position, zero but for its 2 x 2 blocks: RoFormer's equation 15, taken literally."""

import torch


def rope(x, positions, base=10000.0):
    d = x.size(-1)
    if d % 2:
        raise ValueError("RoPE needs an even number of features, got " + str(d))
    first = torch.arange(0, d, 2, device=positions.device)
    angles = positions.double()[..., None] * torch.pow(base, -first.double() / d)
    matrix = torch.zeros(*positions.shape, d, d, dtype=torch.float64, device=positions.device)
    matrix[..., first, first] = matrix[..., first + 1, first + 1] = angles.cos()
    matrix[..., first + 1, first] = angles.sin()
    matrix[..., first, first + 1] = -angles.sin()
    return torch.matmul(matrix, x.double().unsqueeze(-1)).squeeze(-1).to(x.dtype)
