"""Each chunk was normalised by itself and the results were added: the weights of a query then sum to the number of chunks."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for first, last in chunks_of(n_k, chunk):
        scores = scores_of(q, k[..., first:last, :], 0, first, n_k - n_q if causal else None)
        out = out + scores.softmax(dim=-1).nan_to_num(0.0) @ v[..., first:last, :]
    return out
