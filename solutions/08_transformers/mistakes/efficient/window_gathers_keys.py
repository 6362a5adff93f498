"""A copy of its window for each query takes window x d numbers a token; blocks of queries can share their keys."""

CAUGHT_BY = ["5.3d"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    n = q.shape[-2]
    places = torch.arange(n).unsqueeze(-1) - torch.arange(window)
    near = places.clamp_min(0)
    scores = (q.unsqueeze(-2) * k[..., near, :]).sum(dim=-1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(places < 0, -math.inf)
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (weights.unsqueeze(-1) * v[..., near, :]).sum(dim=-2)
