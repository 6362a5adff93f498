"""A hint from the numbers: what a wrong value says about its cause.

Each hint is a fact that holds for all numbers of the value: a constant factor, two axes exchanged, rows of NaN, an
inverted mask. For two unrelated tensors there is no hint. A known mistake from the bank replaces it (`diagnosis`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy
import torch
from torch import Tensor

from autograder.diagnosis import arrangement, factors
from autograder.diagnosis.pair import Hint, Pair, dtype_name, fact, pair_of, rows_listed
from autograder.diagnosis.row_sums import about_empty_rows, about_masks, about_weights
from autograder.diagnosis.sequences import about_sequences

_MOST_ITEMS = 16  # of a list or tuple that is looked into: a student may return thousands of tensors
_LOOKS: tuple[Callable[[Pair], Hint | None], ...] = (
    factors.same_as_argument,
    factors.all_equal,
    arrangement.other_shape,
    arrangement.exchanged_axes,
    arrangement.reduced,
    about_empty_rows,
    about_weights,
    factors.other_function,
    factors.constant_factor,
    factors.constant_offset,
    arrangement.other_order,
    arrangement.shifted,
    arrangement.mixed_axes,
    factors.factor_of_each_row,
    factors.same_in_every_row,
    arrangement.wrong_from,
)


def find_hint(
    got: Any, expected: Any, *, arguments: Mapping[str, Any] | None = None, asked: torch.dtype | None = None
) -> Hint | None:
    """What the numbers of a failed comparison tell of the cause.

    Args:
        got: what the student's function returned: anything.
        expected: what it should have returned; a tensor, as a rule in float64.
        arguments: of the call, by a name that a student understands ("argument 1", "mask"): what a factor may equal.
        asked: the dtype that was asked for, if a wrong dtype is what the check found.

    Returns:
        The first hint that holds, or None. Nothing that a student returned makes it raise.
    """
    if not isinstance(expected, Tensor):
        return about_sequences(got, expected)
    if not isinstance(got, Tensor):
        return _no_tensor(got, expected)
    pair = pair_of(got, expected, arguments or {})
    if pair is None:
        return None
    if asked is not None:
        if pair.dtype == asked or not pair.same(pair.got, pair.expected):
            return None
        return fact(f"The numbers are right, but their dtype is {dtype_name(pair.dtype)}, not {dtype_name(asked)}.")
    if expected.dtype == torch.bool or got.dtype == torch.bool:
        return about_masks(got.detach().cpu(), expected.detach().cpu())
    if not bool(torch.isfinite(pair.expected).all()):
        return None
    if not bool(torch.isfinite(pair.got).all()):
        return _not_finite(pair)
    if pair.same(pair.got, pair.expected) or not pair.enough(pair.got.numel()):
        return None
    for look in (*_LOOKS, _low_precision):
        found = look(pair)
        if found is not None:
            return found
    return None


def _no_tensor(got: Any, expected: Tensor) -> Hint | None:
    """What was returned instead of a tensor, and whether the right tensor is inside it."""
    sentence = ""
    if got is None:
        sentence = "Your function returned None: is there a return on every path?"
    elif isinstance(got, (list, tuple)):
        for index, item in enumerate(got[:_MOST_ITEMS]):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            if isinstance(item, Tensor) and _agree(item, expected):
                word = type(got).__name__  # pyright: ignore[reportUnknownArgumentType]
                sentence = f"Your function returned a {word}; its entry {index} alone is what is asked for."
        if not sentence and _agree(_as_tensor(got), expected):
            sentence = "The numbers are right, but they come in a Python list, not in a tensor."
    elif isinstance(got, numpy.ndarray) and _agree(_as_tensor(got), expected):
        sentence = "The numbers are right, but they come in a numpy array, not in a tensor."
    elif isinstance(got, float) and _agree(_as_tensor(got), expected):
        sentence = "The number is right, but it is a Python number, not a tensor."
    return fact(sentence) if sentence else None


def _as_tensor(value: Any) -> Tensor:
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return torch.empty(0)


def _agree(got: Tensor, expected: Tensor) -> bool:
    pair = pair_of(got, expected, {})
    return pair is not None and pair.same(pair.got, pair.expected)


def _not_finite(pair: Pair) -> Hint | None:
    """Which rows are NaN or infinite, and what they have in common."""
    got = pair.got
    nan, infinite = torch.isnan(got), torch.isinf(got)
    kind = "NaN" if not bool(infinite.any()) else "infinite" if not bool(nan.any()) else "NaN or infinite"
    bad = nan | infinite
    if bool(bad.all()):
        return fact(f"Every number is {kind}.")
    if got.dim() < 2 or got.shape != pair.expected.shape or not bool((bad.all(-1) == bad.any(-1)).all()):
        sentence = f"{int(bad.sum())} of {bad.numel()} numbers are {kind}."
        return Hint(sentence, f"Some numbers are {kind}.")
    rows = bad.all(-1)
    others = "; the others are right" if _rest_is_right(pair, bad) else ""
    places = rows_listed(rows)
    words = ""
    if bool((rows == (pair.expected == 0).all(-1)).all()):
        whose = ", of queries that may attend to nothing" if next(_masks(pair), None) is not None else ""
        words = f"exactly those that should be 0{whose}{others}"
    elif _masked_throughout(pair, rows):
        words = f"exactly those of queries that may attend to nothing (their row of the mask is all False){others}"
    if words:
        return Hint(f"Rows {places} are {kind}, {words}.", f"Some rows are {kind}, {words}.")
    count = f"{int(rows.sum())} of {rows.numel()} rows are {kind} ({places})"
    return Hint(f"{count}{others}.", f"Some rows are {kind}{others}.")


def _masked_throughout(pair: Pair, rows: Tensor) -> bool:
    """Whether a boolean argument, read as a mask, allows nothing in exactly these rows."""
    for mask in _masks(pair):
        empty = ~mask.any(-1)
        if empty.dim() <= rows.dim() and all(
            size in (1, other) for size, other in zip(reversed(empty.shape), reversed(rows.shape), strict=False)
        ):
            return bool((empty.expand_as(rows) == rows).all())
    return False


def _masks(pair: Pair) -> Generator[Tensor]:
    for argument in pair.arguments.values():
        if isinstance(argument, Tensor) and argument.dtype == torch.bool and argument.dim() >= 2:
            yield argument


def _rest_is_right(pair: Pair, bad: Tensor) -> bool:
    got, expected = pair.got[~bad], pair.expected[~bad]
    return pair.distinct(expected) >= 2 and float((got - expected).abs().max()) <= pair.relative * pair.scale


def _low_precision(pair: Pair) -> Hint | None:
    """Every number can be held in a half type, and is the expected one up to the rounding of that type."""
    if pair.dtype not in (torch.float32, torch.float64) or pair.got.shape != pair.expected.shape:
        return None
    if not pair.telling or pair.got.numel() < 6:
        return None
    for dtype in (torch.bfloat16, torch.float16):
        exact = pair.got.to(dtype).double() == pair.got
        near = (pair.got - pair.expected).abs() <= 16 * torch.finfo(dtype).eps * pair.scale
        if bool((exact & near).all()):
            name = dtype_name(dtype)
            return fact(f"Every number is one that {name} holds, near the right one: a step is computed in {name}.")
    return None
