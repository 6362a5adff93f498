import sys

import torch
from torch import nn


def softmax(x, dim):
    m, _ = x.max(dim, keepdim=True)
    y = torch.exp(x - m)
    return y / y.sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    outputs = []
    for i in range(q.shape[0]):
        scores = []
        for j in range(k.shape[0]):
            scores.append((q[i] * k[j]).sum() / (q.shape[1] ** 0.5))
        p = softmax(torch.stack(scores), dim=0)
        output = torch.zeros_like(v[0])
        for j in range(k.shape[0]):
            output = output + p[j] * v[j]
        outputs.append(output)
    return torch.stack(outputs)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / (q.shape[-1] ** 0.5)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    p = softmax(scores, dim=-1)
    if mask is not None:
        p = p.masked_fill(~mask, 0.0)
    return p @ v, p


def causal_mask(n_q, n_k):
    return torch.tril(torch.ones((n_q, n_k), dtype=torch.bool), n_k - n_q)


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device).unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze(1)


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


def main():
    weights = softmax(torch.tensor([0.0, 1.0]), 0)
    print("softmax works:", weights)
    return 0


sys.exit(main())
