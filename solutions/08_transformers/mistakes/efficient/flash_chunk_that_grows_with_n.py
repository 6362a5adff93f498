"""The chunk was an eighth of the sequence, whatever was asked for: its weights are n x n / 64 numbers, which is a square."""

CAUGHT_BY = ["5.2e", "5.2f"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    return FlashAttention.apply(q, k, v, max(1, max(q.shape[-2], k.shape[-2]) // 8), causal)
