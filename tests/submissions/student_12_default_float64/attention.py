import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def softmax(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    out = q.new_zeros(q.shape[0], v.shape[1])
    for i in range(q.shape[0]):
        s = q.new_zeros(k.shape[0])
        for j in range(k.shape[0]):
            s[j] = (q[i] * k[j]).sum() * q.shape[1] ** -0.5
        w = softmax(s, 0)
        for j in range(k.shape[0]):
            out[i] += w[j] * v[j]
    return out


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) * torch.tensor(q.shape[-1]).rsqrt()
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    w = softmax(s, -1)
    if mask is not None:
        w = w.masked_fill(~mask, 0)
    return w @ v, w


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k).tril(n_k - n_q).bool()


def padding_mask(lengths, n):
    return torch.linspace(0, n - 1, n)[None, None] < lengths[:, None, None] - 0.5


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
