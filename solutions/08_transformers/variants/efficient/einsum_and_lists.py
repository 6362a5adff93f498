"""Products by einsum, results gathered in lists and concatenated, the scale on the queries."""

import math

import torch


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", q / math.sqrt(q.shape[-1]), k)
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2], device=q.device)
    keys = torch.arange(first_key, first_key + k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)
