"""A query that may attend to nothing gets 0; a finite number in place of minus infinity gave it the average of all values."""

CAUGHT_BY = ["5.1b"]

import math

import torch


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2], device=q.device)
    keys = torch.arange(first_key, first_key + k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, torch.finfo(scores.dtype).min)

def last_key(query: int, n_q: int, n_k: int) -> int:
    return n_k
