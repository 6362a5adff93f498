"""Keys are unfolded into windows: a view for one sequence, and for several a copy of every query's keys."""

CAUGHT_BY = ["5.3d"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    window = min(window, q.shape[-2])
    keys, values = (torch.nn.functional.pad(x, (0, 0, window - 1, 0)).unfold(-2, window, 1) for x in (k, v))
    scores = (q.unsqueeze(-2) @ keys).squeeze(-2) / math.sqrt(q.shape[-1])
    places = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1) + torch.arange(window, device=q.device)
    scores = scores.masked_fill(places < window - 1, -math.inf)
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return (values @ weights.unsqueeze(-1)).squeeze(-1)
