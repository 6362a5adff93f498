"""All n x n scores were computed and those outside the window masked: the work grows with n squared."""

CAUGHT_BY = ["5.3c", "5.3d"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    places = torch.arange(q.shape[-2])
    distance = places.unsqueeze(-1) - places
    scores = scores.masked_fill((distance < 0) | (distance >= window), -math.inf)
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return weights @ v / weights.sum(dim=-1, keepdim=True)
