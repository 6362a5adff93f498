"""Everything in logarithms: exp(x - logsumexp(x))."""

import math

import torch


def softmax(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))


def attention_with_loops(q, k, v):
    out = []
    for i in range(len(q)):
        scores = [(q[i] @ k[j]) / math.sqrt(q.shape[1]) for j in range(len(k))]
        total = torch.logsumexp(torch.stack(scores), 0)
        out.append(sum(torch.exp(score - total) * value for score, value in zip(scores, v)))
    return torch.stack(out)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = softmax(scores, -1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return torch.einsum("...ij,...jc->...ic", weights, v), weights
