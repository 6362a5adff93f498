import torch
import torch.nn as nn
from einops import einsum, rearrange, repeat


def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True).detach()
    return x.exp() / x.exp().sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    out = []
    for query in q:
        weights = softmax(torch.stack([(query * key).sum() for key in k]) / len(query) ** 0.5, dim=0)
        out.append(sum(weight * value for weight, value in zip(weights, v)))
    return torch.stack(out)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = einsum(q, k, "... q d, ... k d -> ... q k") / q.shape[-1] ** 0.5
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1).masked_fill(~mask, 0)
    return einsum(weights, v, "... q k, ... k d -> ... q d"), weights


def causal_mask(n_q, n_k):
    return rearrange(torch.arange(n_k), "k -> 1 k") - (n_k - n_q) <= rearrange(torch.arange(n_q), "q -> q 1")


def padding_mask(lengths, n):
    position = repeat(torch.arange(n, device=lengths.device), "n -> b 1 n", b=len(lengths))
    return position < rearrange(lengths, "b -> b 1 1")


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        kv_heads = kv_heads or heads
        d_head = d_model // heads
        self.heads, self.kv_heads = heads, kv_heads
        self.q_proj = nn.Linear(d_model, heads * d_head)
        self.k_proj = nn.Linear(d_model, kv_heads * d_head)
        self.v_proj = nn.Linear(d_model, kv_heads * d_head)
        self.out_proj = nn.Linear(heads * d_head, d_model)

    def forward(self, x, context=None, mask=None, positions=None):
        context = x if context is None else context
        group = self.heads // self.kv_heads
        q = rearrange(self.q_proj(x), "... n (h d) -> ... h n d", h=self.heads)
        k = repeat(self.k_proj(context), "... n (h d) -> ... (h group) n d", h=self.kv_heads, group=group)
        v = repeat(self.v_proj(context), "... n (h d) -> ... (h group) n d", h=self.kv_heads, group=group)
        if mask is not None and mask.ndim > 2:
            mask = rearrange(mask, "... q k -> ... 1 q k")
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(rearrange(out, "... h n d -> ... n (h d)")), weights
