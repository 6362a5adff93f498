import sys

import torch
from torch import nn


def debug(name, x):
    # still looking for that bug
    text = f"DEBUG {name}: {tuple(x.shape)} " + "." * 1000
    for _ in range(500):
        print(text)
        print(text, file=sys.stderr)


def softmax(x, dim):
    debug("x", x)
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    debug("q", q)
    out = []
    for i in range(len(q)):
        s = torch.stack([q[i] @ k[j] for j in range(len(k))]) / q.shape[-1] ** 0.5
        e = (s - s.max()).exp()
        row = 0
        for j in range(len(k)):
            row = row + e[j] / e.sum() * v[j]
        out.append(row)
    return torch.stack(out)


def scaled_dot_product_attention(q, k, v, mask=None):
    debug("q", q)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    if mask is not None:
        e = e * mask
    weights = e / e.sum(-1, keepdim=True).clamp_min(1e-6)
    return weights @ v, weights


def causal_mask(n_q, n_k):
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q)
    debug("mask", mask)
    return mask


def padding_mask(lengths, n):
    debug("lengths", lengths)
    return torch.arange(n, device=lengths.device) < lengths.reshape(-1, 1, 1)


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
