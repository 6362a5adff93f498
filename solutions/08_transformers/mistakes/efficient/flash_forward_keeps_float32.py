"""float64 comes in and float32 goes out of the forward pass: keep the dtype."""

CAUGHT_BY = ["5.2d"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    return FlashAttention.apply(q, k, v, chunk, causal).float()
