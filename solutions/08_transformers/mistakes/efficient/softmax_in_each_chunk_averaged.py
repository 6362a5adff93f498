"""The average of the softmaxes of the chunks is not the softmax of all: chunks have different totals."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    parts = []
    for first, last in chunks_of(n_k, chunk):
        scores = scores_of(q, k[..., first:last, :], 0, first, n_k - n_q if causal else None)
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        parts.append(weights @ v[..., first:last, :])
    return sum(parts) / len(parts)
