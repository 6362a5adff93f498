"""The submission makes float64 torch's default: shifts are made in float64 and handed out in float32."""

import torch

torch.set_default_dtype(torch.float64)


def conv_weights(n, size, padding):
    if size % 2 == 0:
        raise ValueError("even")
    if padding not in ("zeros", "circular"):
        raise ValueError("padding")
    shifts = torch.zeros(size, n, n)
    for h in range(size):
        offset = h - size // 2
        if padding == "zeros":
            length = n - abs(offset)
            if length > 0:
                shifts[h] = torch.diag(torch.ones(length), offset)
        else:
            shifts[h, torch.arange(n), (torch.arange(n) + offset) % n] = 1.0
    return shifts.float()


def graph_weights(A, self_loops, norm="row"):
    valid = A.is_floating_point() and A.ndim == 2 and A.shape[0] == A.shape[1] and bool(((A == 0) | (A == 1)).all()) and not bool(A.diag().any())
    if not valid or norm not in ("row", "sym") or (norm == "sym" and not torch.equal(A, A.T)):
        raise ValueError("no such graph")
    dtype, A = A.dtype, A.to(torch.float64)
    if self_loops:
        A = A + torch.eye(len(A))
    degree = A.sum(1)
    safe = torch.where(degree > 0, degree, torch.ones_like(degree))
    weights = A / safe[:, None] if norm == "row" else A / safe.sqrt()[:, None] / safe.sqrt()[None, :]
    return weights.to(dtype)[None]
