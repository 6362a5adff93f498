"""Powers of two in place of powers of e, with log2(e) folded into the scale."""

import math

import torch


def softmax(x, dim):
    y = (x - x.max(dim=dim, keepdim=True)[0]) * math.log2(math.e)
    y = torch.exp2(y)
    return y / y.sum(dim, keepdim=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) * (math.log2(math.e) / math.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    top = scores.amax(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).min)
    powers = torch.exp2(scores - top)
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, 1, total)
    return weights @ v, weights
