"""Keys come in chunks but meet all queries at once: a chunk of scores is n x chunk, where chunk x chunk is enough."""

CAUGHT_BY = ["5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    return attend_in_chunks(q, k, v, chunk, 0, n_k - n_q if causal else None, n_k)[0]
