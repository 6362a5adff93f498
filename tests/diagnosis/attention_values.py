"""The numbers of one attention that hints are tried on, and what is said of two tensors without a number."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from autograder.diagnosis.hints import find_hint


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def said_without_numbers(got: Any, expected: Any, **context: Any) -> str:
    found = find_hint(got, expected, **context)
    assert found is not None
    return found.without_numbers


Q, K, V = drawn(5, 11), drawn(7, 11, seed=1), drawn(7, 13, seed=2)
CALL = {"argument 1": Q, "argument 2": K, "argument 3": V}
SCORES = Q @ K.T
WEIGHTS = (SCORES / math.sqrt(11)).softmax(-1)
MASK = torch.tensor(
    [
        [True, False, True, True, False, True, True],
        [False, True, True, False, True, True, True],
        [True, True, True, True, False, False, True],
        [True, False, False, True, True, True, False],
        [False, True, True, True, True, False, True],
    ]
)
MASKED = (SCORES / math.sqrt(11)).masked_fill(~MASK, -torch.inf).softmax(-1)


def hint(got: Any, expected: Any, **details: Any) -> str:
    """The sentence of `find_hint`, or "" where it finds nothing."""
    found = find_hint(got, expected, **details)
    return "" if found is None else found.sentence
