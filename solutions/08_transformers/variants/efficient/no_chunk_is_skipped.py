"""Chunks that lie in the future are computed and masked: causal skipping is nobody's duty."""

import math

import torch


def last_key(query: int, n_q: int, n_k: int) -> int:
    return n_k
