import random

import numpy as np
import torch
from torch import nn

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
torch.set_num_threads(1)
torch.set_grad_enabled(True)
torch.set_printoptions(precision=2)

x = torch.randn(3, 4)  # to play with


def softmax(x, dim):
    x = x - x.amax(dim=dim, keepdim=True)
    return torch.exp(x) / torch.sum(torch.exp(x), dim=dim, keepdim=True)


print("rows sum to", softmax(x, dim=-1).sum(-1))


def attention_with_loops(q, k, v):
    n_q, n_k = q.size(0), k.size(0)
    S = torch.zeros(n_q, n_k, dtype=q.dtype)
    for i in range(n_q):
        for j in range(n_k):
            S[i, j] = torch.sum(q[i] * k[j]) / np.sqrt(q.size(1))
    A = softmax(S, 1)
    O = torch.zeros(n_q, v.size(1), dtype=v.dtype)
    for i in range(n_q):
        for j in range(n_k):
            O[i] += A[i, j] * v[j]
    return O


def scaled_dot_product_attention(q, k, v, mask=None):
    S = torch.matmul(q, k.transpose(-1, -2)) / float(np.sqrt(q.size(-1)))
    if mask is None:
        A = softmax(S, -1)
    else:
        S = torch.where(mask, S, torch.finfo(S.dtype).min)
        A = torch.where(mask, softmax(S, -1), 0.0)
    return torch.matmul(A, v), A


def causal_mask(n_q, n_k):
    return ~torch.ones(n_q, n_k, dtype=torch.bool).triu(n_k - n_q + 1)


def padding_mask(lengths, n):
    return torch.stack([torch.arange(n, device=lengths.device) < l for l in lengths])[:, None]


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
