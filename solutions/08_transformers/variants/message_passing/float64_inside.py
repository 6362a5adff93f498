"""Everything is computed in float64 and handed back in the dtype it came in."""

import torch


def aggregate(x, weights, values=None):
    gathered = weights.double() @ x.double().unsqueeze(-3)
    if values is not None:
        gathered = gathered @ values.double()
    return gathered.sum(-3).to(x.dtype)


def attention_weights(q, k):
    scores = q.double() @ k.double().mT / torch.tensor(q.shape[-1], dtype=torch.float64).sqrt()
    return torch.softmax(scores, -1).type_as(q)


def conv_weights(n, size, padding):
    if size % 2 == 0 or padding not in ("zeros", "circular"):
        raise ValueError
    shifts = torch.zeros(size, n, n, dtype=torch.float64)
    for h in range(size):
        read = torch.arange(n) + h - size // 2
        inside = torch.full((n,), True) if padding == "circular" else (read >= 0) & (read < n)
        shifts[h, torch.arange(n)[inside], (read % n)[inside]] = 1
    return shifts.float()
