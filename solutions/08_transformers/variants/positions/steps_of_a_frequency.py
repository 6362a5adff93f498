"""Each frequency is the one before it times base^(-2 / d); RoPE as an angle added to the angle of each pair."""

import torch


def _angles(positions, d, base):
    if d % 2:
        raise ValueError("need an even d")
    steps = [1.0]
    while len(steps) < d // 2:
        steps.append(steps[-1] * base ** (-2 / d))
    return positions.unsqueeze(-1).to(torch.float64) * torch.tensor(steps, dtype=torch.float64, device=positions.device)


def sinusoidal(positions, d, base=10000.0):
    angles = _angles(positions, d, base)
    return torch.cat([torch.sin(angles).unsqueeze(-1), torch.cos(angles).unsqueeze(-1)], dim=-1).flatten(-2).float()


def rope(x, positions, base=10000.0):
    angles = _angles(positions, x.shape[-1], base)
    even, odd = x[..., ::2].double(), x[..., 1::2].double()
    radius, angle = torch.hypot(even, odd), torch.atan2(odd, even)
    pair = (radius * torch.cos(angle + angles), radius * torch.sin(angle + angles))
    return torch.stack(pair, dim=-1).flatten(-2).to(x.dtype)
