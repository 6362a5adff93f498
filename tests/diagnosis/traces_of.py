"""A tiny course to diagnose: two functions, four checks, and the traces that code leaves in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.diagnosis.mistake_bank import Bank, BankWriter
from autograder.diagnosis.traces import CheckTrace, ItemTrace, trace_item
from autograder.results import Raised
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch

Function = Callable[..., Any]


@dataclass
class Comparison:
    """One comparison, as a check reports it."""

    what: str
    got: Any


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def softmax(x: Tensor, dim: int) -> Tensor:
    return x.softmax(dim)


def scores(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


RIGHT: dict[str, Function] = {"softmax": softmax, "scores": scores}
FORMULA = [(drawn(1, 3, seed=1), 1), (drawn(4, 5, seed=2), 1), (drawn(2, 4, 5, seed=3), -1)]
LARGE = [(drawn(3, 5, seed=4) + 200.0, 1)]
PAIRS = [(drawn(3, 4, seed=5), drawn(2, 4, seed=6)), (drawn(5, 11, seed=7), drawn(7, 11, seed=8))]
CHECKS: dict[str, tuple[str, Sequence[tuple[Any, ...]]]] = {
    "1.1": ("softmax", FORMULA),
    "1.2": ("softmax", LARGE),
    "2.1": ("scores", PAIRS),
    "2.2": ("scores", [(q, k, ) for q, k in reversed(PAIRS)]),
}  # fmt: skip


def run(code: dict[str, Function], *, keep_all: bool = False, only: Sequence[str] = ()) -> list[CheckTrace]:
    """The traces that `code` leaves in every check (or in those named)."""
    functions = {**RIGHT, **code}
    return [
        CheckTrace(number, (_item(functions[name], RIGHT[name], cases, keep_all),), (name,))
        for number, (name, cases) in CHECKS.items()
        if not only or number in only
    ]


def _item(function: Function, right: Function, cases: Sequence[tuple[Any, ...]], keep_all: bool) -> ItemTrace:
    seen: list[Comparison] = []
    for case in cases:
        try:
            got = function(*(value.clone() if isinstance(value, Tensor) else value for value in case))
        except Exception as error:
            kind = type(error).__name__
            return trace_item(seen, StudentError(Raised(kinds=(kind,), message=str(error))), keep_all=keep_all)
        seen.append(Comparison("out", got))
        expected = right(*case)
        if not isinstance(got, Tensor) or got.shape != expected.shape or not torch.allclose(got, expected, atol=1e-5):
            return trace_item(seen, Mismatch("out", "out[0] = 1.0", "out[0] = 2.0"), keep_all=keep_all)
    return trace_item(seen, None, keep_all=keep_all)


MISTAKES: dict[str, tuple[str, dict[str, Function]]] = {
    "no_shift": ("The largest score is not taken off.", {"softmax": lambda x, dim: x.exp() / x.exp().sum(dim, True)}),
    "axis_zero": ("The sum runs over axis 0.", {"softmax": lambda x, dim: x.softmax(0)}),
    "no_scale": ("The scale is missing.", {"scores": lambda q, k: q @ k.transpose(-2, -1)}),
    "scale_twice": ("The scale is applied twice.", {"scores": lambda q, k: scores(q, k) / math.sqrt(q.shape[-1])}),
    "divided_by_d": ("The root is missing.", {"scores": lambda q, k: q @ k.transpose(-2, -1) / q.shape[-1]}),
    "transposed": ("Queries and keys are exchanged.", {"scores": lambda q, k: scores(k, q)}),
    "too_precise": ("A step rounds.", {"scores": lambda q, k: scores(q, k) * (1 + 2e-5)}),
}


def writer(names: Sequence[str] = tuple(MISTAKES)) -> BankWriter:
    """A writer that was told of these mistakes, in this order."""
    made = BankWriter(run({}, keep_all=True), "digest")
    for name in names:
        sentence, code = MISTAKES[name]
        made.add(name, sentence, run(code), "\n".join(f"def {function}(): ..." for function in code))
    return made


def bank(names: Sequence[str] = tuple(MISTAKES)) -> Bank:
    """The bank of these mistakes."""
    return writer(names).bank()
