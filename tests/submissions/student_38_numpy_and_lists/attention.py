import numpy as np
import torch
from torch import nn


def softmax(x, dim):
    x = x.detach().numpy()
    e = np.exp(x - x.max(axis=dim, keepdims=True))
    return e / e.sum(axis=dim, keepdims=True)


def attention_with_loops(q, k, v):
    result = []
    for qi in q.tolist():
        scores = [sum(a * b for a, b in zip(qi, kj)) / len(qi) ** 0.5 for kj in k.tolist()]
        weights = softmax(torch.tensor(scores), 0).tolist()
        result.append([sum(w * vj[c] for w, vj in zip(weights, v.tolist())) for c in range(v.shape[1])])
    return result


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        weights = torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask
    return [weights @ v, weights]


def causal_mask(n_q, n_k):
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


def padding_mask(lengths, n):
    return [[[i < length for i in range(n)]] for length in lengths.tolist()]


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
        return [self.out_proj(out.transpose(-3, -2).flatten(-2)), weights]
