"""Results are lists, views, expanded or transposed tensors; the result of softmax is a slice of something larger."""

import math

import torch


def softmax(x, dim):
    padded = torch.cat([x, x], dim=0)
    powers = torch.exp(padded - padded.amax(dim, keepdim=True)) if dim % x.dim() else torch.exp(x - x.amax(0))
    powers = powers / powers.sum(dim, keepdim=True)
    return powers[: x.shape[0]]


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = (k @ q.transpose(-2, -1)) / math.sqrt(q.size(-1))
    top = (
        scores.amax(-2, keepdim=True)
        if mask is None
        else scores.masked_fill(~_turned(mask), -torch.inf).amax(-2, keepdim=True)
    )
    top = top.masked_fill(top == -torch.inf, 0.0)
    if mask is not None:
        scores = scores.masked_fill(~_turned(mask), -torch.inf)
    powers = torch.exp(scores - top)
    weights = powers / powers.sum(-2, keepdim=True).clamp_min(1e-30)
    return [(v.transpose(-2, -1) @ weights).transpose(-2, -1), weights.transpose(-2, -1)]


def _turned(mask):
    return mask.transpose(-2, -1) if mask.dim() > 1 else mask.unsqueeze(-1)


def causal_mask(n_q, n_k):
    return (torch.arange(n_k)[:, None] <= torch.arange(n_k - n_q, n_k)).t()


def padding_mask(lengths, n):
    rows = [[True] * int(length) + [False] * (n - int(length)) for length in lengths]
    return torch.tensor(rows, dtype=torch.bool).view(len(rows), n)[:, None]


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        out, weights = super().forward(x, context, mask, positions)
        return [out.transpose(0, -1).contiguous().transpose(0, -1), weights]
