"""Part 2. No bonus."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def softmax(x: Tensor, dim: int) -> Tensor:
    largest = torch.amax(x, dim, keepdim=True)
    numerator = torch.exp(x - largest)
    denominator = torch.sum(numerator, dim, keepdim=True)
    return torch.div(numerator, denominator)


def attention_with_loops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    n_q, d_k = q.shape
    n_k, d_v = v.shape
    output = torch.empty(n_q, d_v, dtype=v.dtype)
    for i in range(n_q):
        numerators = []
        scores = []
        for j in range(n_k):
            score = 0.0
            for c in range(d_k):
                score = score + q[i, c] * k[j, c]
            scores.append(score / math.sqrt(d_k))
        largest = max(score.item() for score in scores)
        for score in scores:
            numerators.append((score - largest).exp())
        total = sum(numerators)
        row = torch.zeros(d_v, dtype=v.dtype)
        for j in range(n_k):
            row = row + numerators[j] / total * v[j]
        output[i] = row
    return output


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = torch.matmul(q, k.mT) / math.sqrt(k.shape[-1])
    if mask is None:
        weights = softmax(scores, -1)
        return torch.matmul(weights, v), weights
    minus_infinity = torch.full_like(scores, -math.inf)
    zeros = torch.zeros_like(scores)
    # a row without any key would be NaN, so it is computed as if it had no mask and thrown away
    nobody = torch.logical_not(mask).all(dim=-1, keepdim=True)
    scores = torch.where(mask | nobody, scores, minus_infinity)
    weights = torch.where(nobody, zeros, softmax(scores, -1))
    return torch.matmul(weights, v), weights


def causal_mask(n_q: int, n_k: int) -> Tensor:
    mask = torch.zeros(n_q, n_k, dtype=torch.bool)
    for i in range(n_q):
        for j in range(n_k):
            if j <= i + n_k - n_q:
                mask[i, j] = True
    return mask


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    rows = []
    for length in lengths.tolist():
        rows.append([[j < length for j in range(n)]])
    return torch.tensor(rows, dtype=torch.bool)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, heads: int, kv_heads: int | None = None, rotary: bool = False) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if d_model % heads:
            raise ValueError(f"{heads} heads do not divide a width of {d_model}")
        d_head = d_model // heads
        self.heads = heads
        self.q_proj = nn.Linear(d_model, heads * d_head)
        self.k_proj = nn.Linear(d_model, kv_heads * d_head)
        self.v_proj = nn.Linear(d_model, kv_heads * d_head)
        self.out_proj = nn.Linear(heads * d_head, d_model)

    def forward(self, x, context=None, mask=None, positions=None):
        if context is None:
            context = x
        q, k, v = self.q_proj(x), self.k_proj(context), self.v_proj(context)
        d = q.shape[-1] // self.heads
        outs, all_weights = [], []
        for h in range(self.heads):
            part = slice(h * d, (h + 1) * d)
            out, weights = scaled_dot_product_attention(q[..., part], k[..., part], v[..., part], mask)
            outs.append(out)
            all_weights.append(weights)
        return self.out_proj(torch.cat(outs, dim=-1)), torch.stack(all_weights, dim=-3)

    def step(self, x, cache):
        raise NotImplementedError
