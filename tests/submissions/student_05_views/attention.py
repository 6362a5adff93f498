"""Everything comes back as a view of something else, and often with requires_grad."""

import torch
from torch import nn

one = nn.Parameter(torch.ones(()))  # "a temperature, to be learned one day"


def softmax(x, dim):
    x = x.transpose(dim, 0)
    e = (x - x.amax(0)).exp()
    p = e / e.sum(0).expand_as(e)
    return p.transpose(dim, 0) * one.to(x.dtype)


def attention_with_loops(q, k, v):
    columns = torch.stack([_one_query(q[i], k, v) for i in range(len(q))], dim=1)  # (d_v, n_q)
    return columns.T


def _one_query(query, k, v):
    weights = softmax(torch.stack([query.dot(key) for key in k]) / len(query) ** 0.5, 0)
    total = torch.zeros_like(v[0])
    for weight, value in zip(weights, v):
        total = total + weight * value
    return total


def scaled_dot_product_attention(q, k, v, mask=None):
    transposed = k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5  # (..., n_k, n_q)
    if mask is not None:
        blocked = ~mask.expand(transposed.transpose(-2, -1).shape).transpose(-2, -1)
        transposed = transposed.masked_fill(blocked, torch.finfo(transposed.dtype).min)
    weights = softmax(transposed, transposed.dim() - 2)
    if mask is not None:
        weights = weights.masked_fill(blocked, 0.0)
    out = (v.transpose(-2, -1) @ weights).transpose(-2, -1)
    return out, weights.transpose(-2, -1)


def causal_mask(n_q, n_k):
    # a band of a larger table
    n = max(n_q, n_k)
    return torch.ones(n, n).tril().bool()[n - n_q :, n - n_k :] if n_q else torch.ones(0, n_k).bool()


def padding_mask(lengths, n):
    after = torch.arange(n, device=lengths.device).expand(len(lengths), n) >= lengths[:, None].expand(len(lengths), n)
    return torch.logical_not(after).as_strided((len(lengths), 1, n), (n, n, 1))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        self.heads = heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, x, context=None, mask=None, positions=None):
        context = x if context is None else context
        q, k, v = (
            layer(tokens).unflatten(-1, (self.heads, -1)).movedim(-2, 0)
            for layer, tokens in ((self.q_proj, x), (self.k_proj, context), (self.v_proj, context))
        )
        out, weights = scaled_dot_product_attention(q, k, v, mask)  # heads come first, so the mask broadcasts
        return self.out_proj(out.movedim(0, -2).flatten(-2)), weights.movedim(0, -3)
