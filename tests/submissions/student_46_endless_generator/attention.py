import itertools
import math

import torch
from torch import nn


def softmax(x, dim):
    x = x - x.amax(dim, keepdim=True)
    numerator = torch.exp(x)
    while True:
        yield numerator / numerator.sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    out = torch.zeros(q.shape[0], v.shape[1], dtype=q.dtype)
    for i in range(q.shape[0]):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in range(k.shape[0])])
        weights = next(softmax(scores, 0))
        for j in range(k.shape[0]):
            out[i] += weights[j] * v[j]
    return itertools.cycle(out)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = next(softmax(scores, -1))
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return {"out": weights @ v, "weights": (w for w in weights)}


def causal_mask(n_q, n_k):
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q)


def padding_mask(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]
