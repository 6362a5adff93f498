"""The n x n scores are held by numpy, which is memory all the same, and no gradient passes through it."""

CAUGHT_BY = ["5.1f"]

import math

import numpy
import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    a, b, c = (x.detach().numpy() for x in (q, k, v))
    scores = a @ numpy.swapaxes(b, -1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = numpy.where(numpy.tril(numpy.ones((n_q, n_k), bool), n_k - n_q), scores, -numpy.inf)
    weights = numpy.exp(scores - numpy.maximum(scores.max(-1, keepdims=True), -1e30))
    total = weights.sum(-1, keepdims=True)
    return torch.from_numpy((weights @ c / numpy.where(total == 0, 1, total)).astype(a.dtype))
