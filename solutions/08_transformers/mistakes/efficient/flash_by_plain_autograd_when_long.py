"""Recomputation for short sequences and plain autograd for long ones: memory is what long sequences run out of."""

CAUGHT_BY = ["5.2f"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    if q.shape[-2] > 2500:
        return chunked_attention(q, k, v, chunk, causal)
    return FlashAttention.apply(q, k, v, chunk, causal)
