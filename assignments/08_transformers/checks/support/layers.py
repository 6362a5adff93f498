"""Four layers as a textbook writes them: index by index, in whatever dtype comes in.

What a student's operator must equal, written in another way than the operator: no layer in here knows weights of n x n
with heads, except `summed_over_heads`, which is the operator's definition as a loop. Biases are left out. Nothing here
asserts, and nothing is fast.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dense(x: Tensor, matrix: Tensor) -> Tensor:
    """nn.Linear from all n * d_in numbers to all n * d_out numbers: y[i, o] = sum over j, c of M[i, o, j, c] x[j, c].

    Args:
        x: (..., n, d_in).
        matrix: (n, d_out, n, d_in).
    """
    n, d_out = matrix.shape[:2]
    every = x.flatten(-2) @ matrix.reshape(n * d_out, -1).T
    return every.reshape(*x.shape[:-2], n, d_out)


def convolution(x: Tensor, kernel: Tensor, padding: str) -> Tensor:
    """nn.Conv1d(padding=size // 2, padding_mode=padding) over the axis of tokens, a cross-correlation.

    Args:
        x: (..., n, d_in).
        kernel: (d_out, d_in, size), size odd.
        padding: "zeros" or "circular".
    """
    n, size = x.shape[-2], kernel.shape[-1]
    rows: list[Tensor] = []
    for i in range(n):
        row = x.new_zeros(*x.shape[:-2], kernel.shape[0])
        for h in range(size):
            j = i + h - size // 2
            if padding == "circular" or 0 <= j < n:
                row = row + x[..., j % n, :] @ kernel[:, :, h].T
        rows.append(row)
    return torch.stack(rows, dim=-2)


def convolution_in_the_plane(x: Tensor, kernel: Tensor, height: int, width: int, padding: str) -> Tensor:
    """nn.Conv2d(padding=1, padding_mode=padding) on pixels in row-major order.

    Args:
        x: (..., height * width, d_in).
        kernel: (d_out, d_in, 3, 3).
        height: rows.
        width: columns.
        padding: "zeros" or "circular".
    """
    pixels = x.reshape(*x.shape[:-2], height, width, x.shape[-1])
    rows: list[Tensor] = []
    for r in range(height):
        for c in range(width):
            total = x.new_zeros(*x.shape[:-2], kernel.shape[0])
            for a in range(3):
                for b in range(3):
                    row, column = r + a - 1, c + b - 1
                    if padding == "circular" or (0 <= row < height and 0 <= column < width):
                        total = total + pixels[..., row % height, column % width, :] @ kernel[:, :, a, b].T
            rows.append(total)
    return torch.stack(rows, dim=-2)


def mean_of_senders(x: Tensor, A: Tensor, values: Tensor, self_loops: bool) -> Tensor:
    """Each node takes the mean of what its senders have, mapped by `values`; a node without senders gets zeros.

    Args:
        x: (..., n, d_in).
        A: (n, n), A[i, j] = 1 where j sends to i.
        values: (d_in, d_out).
        self_loops: each node sends to itself too.
    """
    rows: list[Tensor] = []
    for i in range(len(A)):
        senders = [j for j in range(len(A)) if A[i, j] == 1 or (self_loops and j == i)]
        row = x.new_zeros(*x.shape[:-2], values.shape[1])
        for j in senders:
            row = row + x[..., j, :] @ values / len(senders)
        rows.append(row)
    return torch.stack(rows, dim=-2)


def graph_convolution(x: Tensor, A: Tensor, values: Tensor, self_loops: bool) -> Tensor:
    """Kipf and Welling's layer, edge by edge: x_j V / sqrt(deg(i) deg(j)), added up over the neighbours j of i.

    Args:
        x: (..., n, d_in).
        A: (n, n), symmetric.
        values: (d_in, d_out).
        self_loops: each node is a neighbour of itself too, and counted among them.
    """
    n = len(A)
    neighbours = [[j for j in range(n) if A[i, j] == 1 or (self_loops and j == i)] for i in range(n)]
    rows: list[Tensor] = []
    for i in range(n):
        row = x.new_zeros(*x.shape[:-2], values.shape[1])
        for j in neighbours[i]:
            row = row + x[..., j, :] @ values / math.sqrt(len(neighbours[i]) * len(neighbours[j]))
        rows.append(row)
    return torch.stack(rows, dim=-2)


def multi_head_attention(
    x: Tensor, q_proj: Tensor, k_proj: Tensor, v_proj: Tensor, out_proj: Tensor, heads: int
) -> Tensor:
    """Self-attention in several heads, put side by side and projected; without biases.

    Args:
        x: (..., n, d_in).
        q_proj: (d_in, heads * d_k).
        k_proj: (d_in, heads * d_k).
        v_proj: (d_in, heads * d_v).
        out_proj: (heads * d_v, d_out).
        heads: their number; head h owns the h-th stretch of features.
    """
    found: list[Tensor] = []
    queries, keys, values = ((x @ proj).chunk(heads, dim=-1) for proj in (q_proj, k_proj, v_proj))
    for q, k, v in zip(queries, keys, values, strict=True):
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        found.append(torch.softmax(scores, dim=-1) @ v)
    return torch.cat(found, dim=-1) @ out_proj


def summed_over_heads(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    """The operator as it is defined: the sum over heads of W_h x V_h.

    Args:
        x: (..., n, d_in).
        weights: (..., heads, n, n).
        values: (heads, d_in, d_out).
    """
    return torch.stack([weights[..., h, :, :] @ x @ values[h] for h in range(len(values))]).sum(dim=0)
