"""Chunks under plain autograd are all kept for the backward pass, n x n together: recompute them there."""

CAUGHT_BY = ["5.11", "5.12"]

import math

import torch


def flash_attention(q, k, v, chunk, causal=False):
    return chunked_attention(q, k, v, chunk, causal)
