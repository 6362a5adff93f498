"""Zeros put before the first key are no keys: they took part in the softmax."""

CAUGHT_BY = ["5.3a"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    k = torch.nn.functional.pad(k, (0, 0, window - 1, 0)).unfold(-2, window, 1)
    v = torch.nn.functional.pad(v, (0, 0, window - 1, 0)).unfold(-2, window, 1)
    scores = torch.einsum("...nd,...ndw->...nw", q, k) / math.sqrt(q.shape[-1])
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return torch.einsum("...nw,...ndw->...nd", weights / weights.sum(dim=-1, keepdim=True), v)
