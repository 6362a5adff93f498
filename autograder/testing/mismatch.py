"""The one exception of a failing assertion, and the place where every comparison is reported.

`Mismatch` carries what a student needs to see: what was compared, the few numbers that matter on both sides, and a
hint where the assertion itself knows the cause. Any other cause is looked for by `autograder.diagnosis`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, cast

import numpy
import torch
from torch import Tensor

Recorder = Callable[[Any, Any, str], None]
_MOST_PLACES = 1000
_AT_ONCE = 1 << 20

recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
"""Called with (got, expected, what) at each comparison. Diagnosis is made from these."""


class Mismatch(AssertionError):
    """A value of the student's is not what the property asks for.

    Args:
        what: which output or argument, such as "weights".
        expected: what the property asks for, in a few words or numbers.
        got: what came instead, also in a few words or numbers.
        hint: the likely cause, if the assertion knows it. Students see it in a hidden check, too.
        case: the call that returned it; if empty, the latest call is shown.
        theirs: words that student code chose, shown after the hint. They are not shown in a hidden check, since
            that code has seen the case.
        dtype: what the dtype should have been, if the dtype is what is wrong.
    """

    def __init__(
        self,
        what: str,
        expected: str,
        got: str,
        hint: str = "",
        case: str = "",
        *,
        theirs: str = "",
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(f"{what}: expected {expected}, got {got}" + (f" ({hint}{theirs})" if hint or theirs else ""))
        self.what = what
        self.expected = expected
        self.got = got
        self.hint = hint
        self.theirs = theirs
        self.case = case
        self.dtype = dtype

    def is_about(self, compared: str) -> bool:
        """Whether it is about the value that was compared under this name: "out after permuting" is about "out"."""
        return self.what.startswith(compared)


def compared(got: Any, expected: Any, what: str) -> None:
    """Report that `got` is about to be compared. Call it before the first assertion about `got`."""
    report = recorder.get()
    if report is not None:
        report(got, expected, what)


def describe(value: Any) -> str:
    """What kind of value this is, in a few words: "a tensor of shape (2, 5) and dtype float32", "a list of 3"."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and dtype {dtype_name(value.dtype)}"
    if isinstance(value, numpy.ndarray):
        return f"a numpy array of shape {value.shape}"
    if isinstance(value, (list, tuple, dict)):
        return f"a {type(value).__name__} of {len(value)}"  # pyright: ignore[reportUnknownArgumentType]
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    return f"a value of type {type(value).__name__}"


def dtype_name(dtype: torch.dtype) -> str:
    """The name without the package: "float32"."""
    return str(dtype).removeprefix("torch.")


def row_at(name: str, values: Tensor, index: tuple[int, ...], *, most: int = 6) -> str:
    """The numbers around one place, as people write them: "weights[0, 2, :] = 0.2, 0.31, 0.49".

    Args:
        name: what the tensor is called.
        values: any shape.
        index: a place in `values`.
        most: at most so many numbers of the row are shown, those around the place.
    """
    if not index:
        return f"{name} = {_number(values)}"
    *outer, place = index
    row = values[tuple(outer)]
    first = max(0, min(place - most // 2, len(row) - most))
    shown = row[first : first + most]
    axis = ":" if len(row) <= most else f"{first}:{first + len(shown)}"
    where = ", ".join([*(str(i) for i in outer), axis])
    return f"{name}[{where}] = {', '.join(_number(x) for x in shown)}"


def places(where: Tensor) -> list[tuple[int, ...]]:
    """The indices of the first thousand True entries, in order. (A student may return millions of them.)"""
    flat, found = where.reshape(-1), list[int]()
    for start in range(0, flat.numel(), _AT_ONCE):
        inside = flat[start : start + _AT_ONCE].nonzero()[: _MOST_PLACES - len(found)]
        found += [start + place for place in cast("list[int]", inside.flatten().tolist())]
        if len(found) >= _MOST_PLACES:
            break
    return [_index_of(place, where.shape) for place in found]


def _index_of(place: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The index of an entry of the flattened tensor."""
    index: list[int] = []
    for size in reversed(shape):
        place, along = divmod(place, size)
        index.append(along)
    return tuple(reversed(index))


def _number(value: Tensor) -> str:
    item = value.item()
    return str(item) if isinstance(item, (bool, int)) else f"{item:.4g}"
