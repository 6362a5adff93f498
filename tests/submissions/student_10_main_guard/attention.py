#!/usr/bin/env python3
"""python attention.py runs my own tests."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


def softmax(x, dim):
    z = x - torch.max(x, dim, True).values
    return torch.exp(z - torch.log(torch.sum(torch.exp(z), dim, True)))


def attention_with_loops(q, k, v):
    o = [torch.zeros_like(v[0]) for _ in q]
    for i, qi in enumerate(q):
        w = softmax(torch.stack([qi.dot(kj) / math.sqrt(len(kj)) for kj in k]), 0)
        for wj, vj in zip(w, v):
            o[i] = o[i] + wj * vj
    return torch.stack(o)


def scaled_dot_product_attention(q, k, v, mask=None):
    s = (q / math.sqrt(q.size(-1))) @ k.mT
    if mask is None:
        w = softmax(s, -1)
    else:
        w = softmax(s.masked_fill(~mask, torch.finfo(s.dtype).min), -1).masked_fill(~mask, 0)
    return w @ v, w


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=bool).tril(n_k - n_q)


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.view(-1, 1))[:, None, :]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def _split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, x, context=None, mask=None, positions=None):
        context = x if context is None else context
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(context))
        v = self._split(self.v_proj(context))
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(out.transpose(-3, -2).flatten(-2)), weights


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, required=True)
    args = parser.parse_args()
    q, k, v = (torch.randn(2, 3, 5, 8) for _ in range(3))
    for epoch in range(args.epochs):
        assert torch.allclose(scaled_dot_product_attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v), atol=1e-5)
    print("ALL TESTS PASSED")
