"""Two tensors that should be equal and are not, and the questions that every hint asks of them.

A question is answered from the numbers alone, within rounding: nothing merely similar counts. It draws no conclusions
(the hints do) and renders only axes and sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor

MOST_ELEMENTS = 1 << 20
"""Of larger tensors no hint is looked for: it would cost more than it tells."""

_RELATIVE = 1e-4
_EXACT = 1e-9
_DISTINCT = 1e-3
_MILLION = 6


@dataclass(frozen=True)
class Hint:
    """What the numbers tell of the likely cause: a sentence for a student.

    `without_numbers` says the same without a number or a size of the case, for hidden checks; it is empty where
    nothing is left to say.
    """

    sentence: str
    without_numbers: str = ""


def fact(sentence: str) -> Hint:
    """A hint that holds no number of the case."""
    return Hint(sentence, sentence)


@dataclass(frozen=True)
class Pair:
    """What came and what should have come.

    Attributes:
        got: float64 on the CPU, any shape.
        expected: likewise; its shape may differ.
        dtype: what `got` had.
        arguments: of the call that gave `got`, by a name that a student understands.
    """

    got: Tensor
    expected: Tensor
    dtype: torch.dtype
    arguments: Mapping[str, Any]

    @cached_property
    def relative(self) -> float:
        """How far two values may lie apart, relative to the largest, to be the same up to rounding."""
        return max(_RELATIVE, 8 * torch.finfo(self.dtype).eps) if self.dtype.is_floating_point else _EXACT

    @cached_property
    def scale(self) -> float:
        """The largest finite magnitude that is expected."""
        return largest(self.expected)

    def same(self, a: Tensor, b: Tensor) -> bool:
        """Whether `a` equals `b` within rounding, in shape and everywhere."""
        return a.shape == b.shape and self.near(a, b)

    def near(self, a: Tensor, b: Tensor) -> bool:
        """Whether `a` equals `b` within rounding everywhere; both broadcast."""
        if not a.numel() or not b.numel():
            return False
        return float((a - b).abs().max()) <= self.relative * largest(b)

    def distinct(self, values: Tensor) -> int:
        """How many values there are that rounding does not explain: an agreement of few of them tells nothing."""
        finite = values[torch.isfinite(values)].flatten()
        if not finite.numel():
            return 0
        steps = finite.sort().values.diff()
        return 1 + int((steps > max(_DISTINCT, 2 * self.relative) * largest(finite)).sum())

    def enough(self, entries: int) -> bool:
        """Whether so many entries (one of them free, such as a factor) do not agree by accident: one time in a million.

        Three are enough in float32; in bfloat16, where each agrees more easily, it takes eight.
        """
        return (1 - entries) * math.log10(2 * self.relative) >= _MILLION

    @cached_property
    def telling(self) -> bool:
        """Whether the expected values are varied enough for an agreement after a rearrangement to tell anything."""
        return self.distinct(self.expected) >= 3


def pair_of(got: Tensor, expected: Tensor, arguments: Mapping[str, Any]) -> Pair | None:
    """The pair, or None where the tensors are empty, complex, or too large to look at."""
    if not got.numel() or not expected.numel() or max(got.numel(), expected.numel()) > MOST_ELEMENTS:
        return None
    if got.is_complex() or expected.is_complex():
        return None
    return Pair(got.detach().cpu().double(), expected.detach().cpu().double(), got.dtype, arguments)


def largest(values: Tensor) -> float:
    """The largest finite magnitude; 0 where there is none."""
    finite = values[torch.isfinite(values)]
    return float(finite.abs().max()) if finite.numel() else 0.0


def dtype_name(dtype: torch.dtype) -> str:
    """The name without the package: "float32"."""
    return str(dtype).removeprefix("torch.")


def axis_name(axis: int, axes: int) -> str:
    """What people call an axis: the last one from the end, the others by number."""
    return "the last axis" if axes > 1 and axis == axes - 1 else f"axis {axis}"


def listed(numbers: Iterable[int], most: int = 6) -> str:
    """ "0, 2, 3": at most so many, then how many more."""
    every = list(numbers)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(str(number) for number in every[:most]) + more


def rows_listed(rows: Tensor, most: int = 6) -> str:
    """Which rows are True, by their full index: "1, 3" of a matrix, "[0, 1], [1, 3]" where there are leading axes."""
    every = cast("list[list[int]]", rows.nonzero().tolist())
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(str(index[0] if len(index) == 1 else index) for index in every[:most]) + more


def sizes_of(arguments: Mapping[str, Any]) -> dict[int, str]:
    """The sizes in the call, each with the first place that has it: {11: "the size of the last axis of argument 1"}.

    Sizes below 4 are left out: what equals 2 or 3 has too many other reasons.
    """
    sizes: dict[int, str] = {}
    for name, value in arguments.items():
        shape: Sequence[int] = value.shape if isinstance(value, Tensor) else ()
        for axis in reversed(range(len(shape))):
            sizes.setdefault(int(shape[axis]), f"the size of {axis_name(axis, len(shape))} of {name}")
        if isinstance(value, int) and not isinstance(value, bool) and 1 < value < 1 << 20:
            sizes.setdefault(value, name)
    return {size: place for size, place in sizes.items() if size > 3}
