import math

import torch
from torch import nn


def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True)
    numerator = torch.exp(x)
    return numerator / numerator.sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    out = torch.zeros(q.shape[0], v.shape[1], dtype=q.dtype)
    for i in range(q.shape[0]):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in range(k.shape[0])])
        weights = softmax(scores, 0)
        for j in range(k.shape[0]):
            out[i] += weights[j] * v[j]
    return out


def scaled_dot_product_attention(q, k, v, mask=None):
    # still to do
    raise NotImplementedError


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        d_head = d_model // heads
        self.heads = heads
        self.q_proj = nn.Linear(d_model, heads * d_head)
        self.k_proj = nn.Linear(d_model, kv_heads * d_head)
        self.v_proj = nn.Linear(d_model, kv_heads * d_head)
        self.out_proj = nn.Linear(heads * d_head, d_model)

    def forward(self, x, context=None, mask=None, positions=None):
        raise NotImplementedError

    def step(self, x, cache):
        raise NotImplementedError
