"""Token by token, edge by edge, head by head."""

import math

import torch


def aggregate(x, weights, values=None):
    total = 0
    for h in range(weights.shape[-3]):
        rows = []
        for i in range(weights.shape[-2]):
            row = 0
            for j in range(x.shape[-2]):
                row = row + weights[..., h, i, j, None] * x[..., j, :]
            rows.append(row)
        head = torch.stack(rows, dim=-2)
        total = total + (head if values is None else head @ values[h])
    return total


def mlp_weights(W):
    return torch.stack([torch.stack(list(row)) for row in W]).reshape(1, *W.shape)


def conv_weights(n, size, padding):
    if size % 2 == 0:
        raise ValueError("odd sizes only")
    if padding != "zeros" and padding != "circular":
        raise ValueError(padding)
    heads = []
    for h in range(size):
        rows = []
        for i in range(n):
            place = i + h - size // 2
            rows.append([float(j == (place % n if padding == "circular" else place)) for j in range(n)])
        heads.append(rows)
    return torch.tensor(heads, dtype=torch.float32)


def graph_weights(A, self_loops, norm="row"):
    n = len(A)
    if list(A.shape) != [n, n]:
        raise ValueError("not square")
    if A.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        raise ValueError(f"A is {A.dtype}")
    entries = A.tolist()
    for i in range(n):
        for j in range(n):
            if entries[i][j] not in (0, 1) or (i == j and entries[i][j]):
                raise ValueError(f"A[{i}, {j}] is {entries[i][j]}")
            if norm == "sym" and entries[i][j] != entries[j][i]:
                raise ValueError(f"edge {i}, {j} has no reverse")
    if norm != "sym" and norm != "row":
        raise ValueError(norm)
    if self_loops:
        for i in range(n):
            entries[i][i] = 1.0
    degree = [sum(row) for row in entries]
    for i in range(n):
        for j in range(n):
            if entries[i][j]:
                entries[i][j] = 1 / degree[i] if norm == "row" else degree[i] ** -0.5 * degree[j] ** -0.5
    return torch.tensor([entries], dtype=A.dtype)


def attention_weights(q, k):
    rows = []
    for i in range(q.shape[-2]):
        scores = (q[..., i : i + 1, :] * k).sum(-1) / math.sqrt(q.shape[-1])
        powers = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        rows.append(powers / powers.sum(-1, keepdim=True))
    return torch.stack(rows, dim=-2)
