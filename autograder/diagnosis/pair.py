"""Two tensors that should be equal and are not, and the questions that every hint asks about them.

Two values count as the same only if they are equal up to rounding.
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
"""No hint is looked for in larger tensors, to save time."""

_RELATIVE = 1e-4
_FEW = 8
_EXACT = 1e-9
_DISTINCT = 1e-3
_BY_ACCIDENT = 4.5


@dataclass(frozen=True)
class Hint:
    """What the numbers say about the likely cause, as a sentence for a student.

    `without_numbers` says it without any number or size of the case, for hidden checks; "" if nothing is left to say.
    """

    sentence: str
    without_numbers: str = ""


def fact(sentence: str) -> Hint:
    """A hint that holds no number of the case."""
    return Hint(sentence, sentence)


@dataclass(frozen=True)
class Pair:
    """What a student's function returned and what it should have returned.

    Attributes:
        got: as float64 on the CPU, of any shape.
        expected: as float64 on the CPU; its shape may differ.
        dtype: the dtype of `got` before it was converted.
        arguments: those of the call, by a name that a student understands.
    """

    got: Tensor
    expected: Tensor
    dtype: torch.dtype
    arguments: Mapping[str, Any]

    @cached_property
    def relative(self) -> float:
        """How far two values may lie apart, relative to the largest, to be the same up to rounding.

        Few numbers agree by accident more easily, so they must agree to six digits.
        """
        if not self.dtype.is_floating_point:
            return _EXACT
        eps = torch.finfo(self.dtype).eps
        return max(64 * torch.finfo(torch.float32).eps if self.expected.numel() < _FEW else _RELATIVE, 8 * eps)

    @cached_property
    def scale(self) -> float:
        """The largest finite magnitude of the expected values."""
        return largest(self.expected)

    def place_name(self, axis: int) -> str:
        """What people call one place along an axis: a token or a query, a feature or a key, an entry of any other."""
        from_end = self.expected.dim() - axis
        is_weights = bool((self.expected >= 0).all()) and bool(((self.expected.sum(-1) - 1).abs() < _DISTINCT).any())
        names = ("key", "query") if is_weights else ("feature", "token")
        return names[from_end - 1] if from_end <= 2 else "entry"

    def same(self, a: Tensor, b: Tensor) -> bool:
        """Whether `a` equals `b` within rounding, in shape and everywhere."""
        return a.shape == b.shape and self.near(a, b)

    def near(self, a: Tensor, b: Tensor) -> bool:
        """Whether `a` equals `b` within rounding everywhere; both broadcast."""
        if not a.numel() or not b.numel():
            return False
        return float((a - b).abs().max()) <= self.relative * largest(b)

    def distinct(self, values: Tensor) -> int:
        """How many different values there are, beyond rounding. If they are few, agreeing with them says little."""
        finite = values[torch.isfinite(values)].flatten()
        if not finite.numel():
            return 0
        steps = finite.sort().values.diff()
        return 1 + int((steps > max(_DISTINCT, 2 * self.relative) * largest(finite)).sum())

    def enough(self, entries: int) -> bool:
        """Whether so many entries (one of them free, such as a factor) hardly ever agree by accident (3 in 100,000).

        Two are enough in float32, where few entries must agree closely; in bfloat16 it takes six.
        """
        return (1 - entries) * math.log10(2 * self.relative) >= _BY_ACCIDENT

    @cached_property
    def telling(self) -> bool:
        """Whether there are at least three different expected values: with fewer, a rearrangement says little."""
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
    """An axis in words: "the last axis", or its number."""
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
    """The sizes in the call, each with the first place that has it: {11: "the size of the last axis of argument 1"}."""
    sizes: dict[int, str] = {}
    for name, value in arguments.items():
        shape: Sequence[int] = value.shape if isinstance(value, Tensor) else ()
        for axis in reversed(range(len(shape))):
            sizes.setdefault(int(shape[axis]), f"the size of {axis_name(axis, len(shape))} of {name}")
        if isinstance(value, int) and not isinstance(value, bool) and 1 < value < 1 << 20:
            sizes.setdefault(value, name)
    return {size: place for size, place in sizes.items() if size > 1}
