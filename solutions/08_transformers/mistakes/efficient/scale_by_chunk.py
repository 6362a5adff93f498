"""The scale is sqrt(d_k), the width of the keys, and not the root of their number."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-2])
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2], device=q.device)
    keys = torch.arange(first_key, first_key + k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)
