"""Inputs at which careless formulas overflow or underflow, or subtract the wrong maximum, while right ones are exact.

The rounding of scores this large would change the weights, unless one key wins clearly: then the weight is 1 or 0 in
every correct formula.
"""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import Tensor

from autograder.testing.cases import Cases


def one_clear_winner(
    cases: Cases, *leading: int, n_q: int, n_k: int, d: int, score: float, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Each query matches exactly one key, by a scaled score of about `score`; all other scores are about 0.

    Keys are orthogonal, queries point along one of them each. Needs d >= n_k.

    Returns:
        q (..., n_q, d), k (..., n_k, d), and the winners (..., n_q) as indices of keys.
    """
    if d < n_k:
        raise ValueError(f"{n_k} orthogonal keys do not fit into {d} dimensions")
    directions = _orthogonal(cases.tensor(*leading, d, d, dtype=torch.float64))[..., :n_k, :]
    length = math.sqrt(score * math.sqrt(d))
    winners = cases.integers(*leading, n_q, low=0, high=n_k)
    chosen = directions.gather(-2, winners.unsqueeze(-1).expand(*leading, n_q, d))
    return (length * chosen).to(dtype), (length * directions).to(dtype), winners


def all_scores_low(cases: Cases, n_q: int, n_k: int, d: int, score: float, step: float) -> tuple[Tensor, Tensor, int]:
    """Queries and keys whose scaled scores are all far below 0: from `score` down, key after key by at least `step`.

    Returns:
        q (n_q, d), k (n_k, d), and the index of the key that every query prefers.
    """
    direction = _orthogonal(cases.tensor(d, d, dtype=torch.float64))[0]
    places = cases.permutation(n_k).double()
    length = math.sqrt(abs(score) * math.sqrt(d))
    k = length * (1 + step / abs(score) * places).unsqueeze(-1) * direction
    q = -length * cases.uniform(n_q, 1, low=1.0, high=1.5, dtype=torch.float64) * direction
    return q.float(), k.float(), int(places.argmin())


def _orthogonal(square: Tensor) -> Tensor:
    """(..., d, d) with orthonormal rows, made from a matrix without structure."""
    return cast("tuple[Tensor, Tensor]", torch.linalg.qr(square))[0].transpose(-2, -1)
