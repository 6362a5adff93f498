"""The mask compares places in the sequence; here those inside the chunks were compared."""

CAUGHT_BY = ["5.1b"]

import math

import torch


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if offset is None:
        return scores
    queries = torch.arange(0, q.shape[-2], device=q.device)
    keys = torch.arange(0, k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)
