"""Chunks of keys are merged two by two, as in a tournament, within a chunk of queries."""

import math

import torch


def leaf(q, k, v, first_query, first_key, offset):
    scores = scores_of(q, k, first_query, first_key, offset)
    largest = scores.detach().amax(dim=-1, keepdim=True).clamp_min(-1e30)
    weights = (scores - largest).exp()
    return largest, weights.sum(dim=-1, keepdim=True), weights @ v


def merged(left, right):
    largest = torch.maximum(left[0], right[0])
    a, b = (left[0] - largest).exp(), (right[0] - largest).exp()
    return largest, a * left[1] + b * right[1], a * left[2] + b * right[2]


def tree(q, k, v, chunk, first_query, first_key, last_key, offset):
    if last_key - first_key <= chunk:
        return leaf(q, k[..., first_key:last_key, :], v[..., first_key:last_key, :], first_query, first_key, offset)
    middle = first_key + chunk * ((last_key - first_key + chunk - 1) // chunk // 2)
    left = tree(q, k, v, chunk, first_query, first_key, middle, offset)
    return merged(left, tree(q, k, v, chunk, first_query, middle, last_key, offset))


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = []
    for start, stop in chunks_of(n_q, chunk):
        block = q[..., start:stop, :]
        _, total, mixed = tree(block, k, v, chunk, start, 0, n_k, n_k - n_q if causal else None)
        out.append(mixed / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
