"""Chunks under plain autograd are all kept for the backward pass, n x n together: recompute them there."""

CAUGHT_BY = ["5.2e", "5.2f"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    return chunked_attention(q, k, v, chunk, causal)
