"""Shifts by torch.roll and torch.diag_embed; the symmetric norm as D^-1/2 A D^-1/2 with infinities taken out."""

import torch


def conv_weights(n, size, padding):
    if not size % 2:
        raise ValueError("even")
    half = size // 2
    if padding == "circular":
        return torch.stack([torch.roll(torch.eye(n), offset, dims=1) for offset in range(-half, half + 1)])
    if padding == "zeros":
        wide = torch.eye(n + 2 * half)
        return torch.stack([wide[h : h + n, half : half + n] for h in range(size)])
    raise ValueError(f"unknown padding {padding}")


def graph_weights(A, self_loops, norm="row"):
    if not torch.is_floating_point(A) or A.ndim != 2 or A.size(0) != A.size(1) or not torch.equal(A, A.bool().to(A.dtype)) or torch.trace(A) != 0:
        raise ValueError("no adjacency matrix")
    if norm not in {"row", "sym"}:
        raise ValueError("no norm")
    if norm == "sym" and not bool((A == A.mT).all()):
        raise ValueError("directed")
    A = A.clone()
    if self_loops:
        A.fill_diagonal_(1)
    degree = A.sum(-1)
    if norm == "row":
        return (
            torch.nan_to_num(torch.diag(1 / degree) @ A, nan=0.0, posinf=0.0)[None]
            if (degree > 0).all()
            else (torch.where(degree[:, None] > 0, A / degree[:, None], torch.zeros_like(A))[None])
        )
    roots = degree.pow(-0.5)
    roots[torch.isinf(roots)] = 0.0
    return (torch.diag_embed(roots) @ A @ torch.diag_embed(roots)).unsqueeze(0)


def conv2d_weights(height, width, padding):
    if padding not in ("zeros", "circular"):
        raise ValueError(padding)
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    rows, columns = rows.flatten(), columns.flatten()
    heads = []
    for a in (-1, 0, 1):
        for b in (-1, 0, 1):
            row, column = rows + a, columns + b
            if padding == "circular":
                row, column = row % height, column % width
            heads.append(((row[:, None] == rows) & (column[:, None] == columns)).to(torch.float32))
    return torch.stack(heads)
