"""`causal` was not passed on."""

CAUGHT_BY = ["5.2a"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    return FlashAttention.apply(q, k, v, chunk, False)
