import warnings

import torch
from torch import nn

warnings.simplefilter("always")


def softmax(x, dim):
    warnings.warn("softmax may overflow for large inputs", RuntimeWarning)
    x = x - x.amax(dim, keepdim=True)
    return torch.exp(x) / torch.exp(x).sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    warnings.warn("this is slow, use scaled_dot_product_attention", DeprecationWarning)
    out = torch.zeros(q.shape[0], v.shape[1], dtype=q.dtype)
    for i in range(q.shape[0]):
        score = torch.stack([(q[i] * k[j]).sum() for j in range(k.shape[0])]) / q.shape[1] ** 0.5
        weight = softmax(score, 0)
        for j in range(k.shape[0]):
            out[i] = out[i] + weight[j] * v[j]
    return out


def scaled_dot_product_attention(q, k, v, mask=None):
    warnings.warn("there is torch.nn.functional.scaled_dot_product_attention", UserWarning)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, torch.finfo(q.dtype).min)  # noqa: E712
    weights = softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(mask == False, 0.0)  # noqa: E712
    return weights @ v, weights


def causal_mask(n_q, n_k):
    warnings.warn("masks are boolean")
    return torch.ones(n_q, n_k).tril(n_k - n_q) == 1


def padding_mask(lengths, n):
    warnings.warn("masks are boolean")
    return torch.arange(n, device=lengths.device)[None, None, :] < lengths[:, None, None]


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
