"""Library attention computed it, on all n x n pairs: writing it is the exercise."""

CAUGHT_BY = ["5.3a", "5.3c"]

import math

import torch


def sliding_window_attention(q, k, v, window):
    places = torch.arange(q.shape[-2])
    distance = places.unsqueeze(-1) - places
    mask = (distance >= 0) & (distance < window)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
