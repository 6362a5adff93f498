# I compute everything in double precision to be on the safe side and cast back at the end.
import numpy as np
import torch
from torch import nn


def softmax(x, dim):
    y = x.double()
    y = y - torch.logsumexp(y, dim, keepdim=True)
    return y.exp().to(x.dtype)


def attention_with_loops(q, k, v):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    result = torch.zeros(q.size(0), v.size(1), dtype=torch.float64)
    for i in range(q.size(0)):
        s = torch.zeros(k.size(0), dtype=torch.float64)
        for j in range(k.size(0)):
            s[j] = q[i] @ k[j] / np.sqrt(q.size(1))
        p = softmax(s, -1)
        for j in range(k.size(0)):
            result[i] += p[j] * v[j]
    return result.to(dtype)


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q.double() @ k.double().transpose(-1, -2) / np.sqrt(q.size(-1))
    if mask is not None:
        s = s + torch.zeros(mask.shape, dtype=torch.float64).masked_fill(~mask, -1e300)
    p = softmax(s, -1)
    if mask is not None:
        p = p * mask.any(-1, keepdim=True)
    return (p @ v.double()).to(v.dtype), p.to(q.dtype)


def causal_mask(n_q, n_k):
    return torch.from_numpy(np.tri(n_q, n_k, n_k - n_q, dtype=bool))


def padding_mask(lengths, n):
    m = torch.zeros(len(lengths), 1, n, dtype=torch.bool)
    for b, l in enumerate(lengths):
        m[b, :, :l] = True
    return m


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def heads_first(self, x, layer):
        y = nn.functional.linear(x.double(), layer.weight.double(), layer.bias.double())
        return y.view(*x.shape[:-1], self.heads, -1).transpose(-2, -3)

    def forward(self, x, context=None, mask=None, positions=None):
        c = x if context is None else context
        if mask is not None and mask.dim() >= 3:
            mask = mask.unsqueeze(-3)
        out, weights = scaled_dot_product_attention(
            self.heads_first(x, self.q_proj), self.heads_first(c, self.k_proj), self.heads_first(c, self.v_proj), mask
        )
        out = out.transpose(-2, -3).flatten(-2)
        out = nn.functional.linear(out, self.out_proj.weight.double(), self.out_proj.bias.double())
        return out.to(x.dtype), weights.to(x.dtype)
