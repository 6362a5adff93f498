"""The scale is a float32 tensor, whatever the dtype of the queries, and a tiny number guards the denominator."""

import torch


def softmax(x, dim):
    powers = (x - x.detach().amax(dim, keepdim=True)).exp()
    return powers / (powers.sum(dim, keepdim=True) + 1e-10)


def scaled_dot_product_attention(q, k, v, mask=None):
    scale = torch.rsqrt(torch.tensor(k.size(-1), dtype=torch.float32))
    scores = (q @ k.transpose(-2, -1)) * scale.to(q.dtype)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = softmax(scores, -1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return weights @ v, weights
