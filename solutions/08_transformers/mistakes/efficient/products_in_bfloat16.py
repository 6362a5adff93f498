"""Scores in bfloat16 have three digits: sums over many keys need float32."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    scores = (q.bfloat16() @ k.bfloat16().transpose(-2, -1)).to(q.dtype) / math.sqrt(q.shape[-1])
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2], device=q.device)
    keys = torch.arange(first_key, first_key + k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)
