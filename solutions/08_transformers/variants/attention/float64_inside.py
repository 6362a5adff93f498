"""Float64 inside, the caller's dtype outside."""

import math

import torch


def softmax(x, dim):
    wide = x.to(torch.float64)
    wide = torch.exp(wide - wide.amax(dim, keepdim=True))
    return (wide / wide.sum(dim, keepdim=True)).to(x.dtype)


def scaled_dot_product_attention(q, k, v, mask=None):
    wide_q, wide_k, wide_v = q.double(), k.double(), v.double()
    scores = wide_q @ wide_k.transpose(-1, -2) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e300)
    weights = softmax(scores, -1)
    if mask is not None:
        weights = weights * mask
    return (weights @ wide_v).to(v.dtype), weights.to(q.dtype)
