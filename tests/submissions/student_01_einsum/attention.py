import torch
from torch import einsum, nn


def softmax(x, dim):
    e = torch.exp(x - x.max(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)


def attention_with_loops(q, k, v):
    rows = []
    for i in range(q.shape[0]):
        scores = torch.stack([torch.dot(q[i], k[j]) for j in range(k.shape[0])]) / q.shape[1] ** 0.5
        w = softmax(scores, 0)
        rows.append(sum(w[j] * v[j] for j in range(k.shape[0])))
    return torch.stack(rows)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = einsum("...qd,...kd->...qk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    w = softmax(scores, -1)
    if mask is not None:
        w = w * mask
    return einsum("...qk,...kv->...qv", w, v), w


def causal_mask(n_q, n_k):
    return torch.arange(n_k)[None, :] <= torch.arange(n_q)[:, None] + (n_k - n_q)


def padding_mask(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)).unsqueeze(1)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        if kv_heads is None:
            kv_heads = heads
        if d_model % heads != 0 or heads % kv_heads != 0:
            raise ValueError("sizes do not divide")
        self.h, self.g, self.d, self.rotary = heads, kv_heads, d_model // heads, rotary
        self.q_proj = nn.Linear(d_model, heads * self.d)
        self.k_proj = nn.Linear(d_model, kv_heads * self.d)
        self.v_proj = nn.Linear(d_model, kv_heads * self.d)
        self.out_proj = nn.Linear(heads * self.d, d_model)

    def split(self, x):
        return x.reshape(*x.shape[:-1], -1, self.d)  # (..., n, heads, d)

    def turn(self, x, positions):
        # (..., n, heads, d): pairs as complex numbers
        if self.d % 2:
            raise ValueError("rotary needs an even head size")
        freq = 10000.0 ** (-torch.arange(0, self.d, 2, dtype=torch.float64) / self.d)
        angle = positions.double()[..., None] * freq
        z = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
        # positions are (n,) or (B, 1, n): the heads axis is second to last here
        angle = angle[:, None, :] if positions.dim() == 1 else angle.transpose(-3, -2)
        z = z * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(z).flatten(-2).to(x.dtype)

    def project(self, x, context, first=0, positions=None):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(context)), self.split(self.v_proj(context))
        if self.rotary:
            if positions is None:
                positions = torch.arange(first, first + x.shape[-2])
            q, k = self.turn(q, positions), self.turn(k, positions)
        return q, k, v

    def attend(self, q, k, v, mask):
        q = q.unflatten(-2, (self.g, self.h // self.g))
        s = einsum("...qgrd,...kgd->...grqk", q, k) / self.d**0.5
        if mask is not None:
            if mask.dim() > 2:
                mask = mask[..., None, None, :, :]
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = softmax(s, -1)
        if mask is not None:
            w = w.masked_fill(~mask, 0)
        o = einsum("...grqk,...kgd->...qgrd", w, v).flatten(-3)
        return self.out_proj(o), w.flatten(-4, -3)

    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary and context is not None:
            raise ValueError("rotary attention has no positions for the context")
        return self.attend(*self.project(x, x if context is None else context, 0, positions), mask)

    def step(self, x, cache):
        first = 0 if cache is None else cache["k"].shape[-3]
        q, k, v = self.project(x, x, first)
        if cache is not None:
            k, v = torch.cat([cache["k"], k], -3), torch.cat([cache["v"], v], -3)
        out, _ = self.attend(q, k, v, None)
        return out, {"k": k, "v": v}
