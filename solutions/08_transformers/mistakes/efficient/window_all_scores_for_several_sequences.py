"""Several sequences at once are computed by all n x n scores; only one sequence is computed by its window."""

CAUGHT_BY = ["5.3d"]

import math

import torch

of_one_sequence = sliding_window_attention


def sliding_window_attention(q, k, v, window):
    if q.shape[:-2].numel() == 1:
        return of_one_sequence(q, k, v, window)
    distance = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1) - torch.arange(q.shape[-2], device=q.device)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill((distance < 0) | (distance >= window), -math.inf)
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return weights / weights.sum(dim=-1, keepdim=True) @ v
