"""The likely cause of one failing item, from that item alone: from its numbers, or from what the exception means.

After all checks have run, a cause from the mistake bank replaces it (`diagnosis.with_causes`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from autograder.diagnosis.exception_meanings import what_it_means
from autograder.diagnosis.hints import find_hint
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch


class Compared(Protocol):
    """One comparison, as a check reported it."""

    what: str
    got: Any
    expected: Any


class Called(Protocol):
    """The call whose result was compared."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def likely_cause(
    error: BaseException | None, comparisons: Sequence[Compared], call: Called | None, *, hidden: bool
) -> str:
    """A sentence, or "" if no cause is known. The hint of the check's author comes before one from the numbers.

    Args:
        error: what ended the item.
        comparisons: what was compared in it, in order.
        call: the latest call of the student's code.
        hidden: leave out every number and size of the case.
    """
    if isinstance(error, StudentError):
        return what_it_means(error.reason)
    if not isinstance(error, Mismatch):
        return ""
    own = error.hint + error.theirs
    if hidden:
        own = "" if re.search(r"\d", error.hint) else error.hint
        return _of_numbers(error, comparisons, call, own, hidden=True) or _in_short(error)
    return _of_numbers(error, comparisons, call, own, hidden=False)


def _in_short(error: Mismatch) -> str:
    """Which value is wrong, for a hidden check of which nothing else can be told."""
    what = error.what.partition("[")[0]
    if re.search(r"\d", what):
        return ""
    return f"What is wrong is {'the shape of ' if error.expected.startswith('shape ') else ''}{what}."


def _of_numbers(
    error: Mismatch, comparisons: Sequence[Compared], call: Called | None, own: str, *, hidden: bool
) -> str:
    """What the numbers tell, with the author's `own` hint."""
    if not comparisons or not error.is_about(comparisons[-1].what):
        return own
    last = comparisons[-1]
    try:
        found = find_hint(last.got, last.expected, arguments=_named(call), asked=error.dtype)
    except Exception:  # a hint is a courtesy: whatever a student returned, looking for one must cost nobody a grade
        found = None
    told = "" if found is None else found.without_numbers if hidden else found.sentence
    is_finite = not isinstance(last.got, Tensor) or bool(torch.isfinite(last.got).all())
    if own and told and is_finite:
        return own
    return " ".join(each for each in (told, own) if each)


def _named(call: Called | None) -> Mapping[str, Any]:
    """The arguments by names that a student understands: "argument 1", "mask"."""
    if call is None:
        return {}
    return {f"argument {place}": value for place, value in enumerate(call.args, 1)} | call.kwargs
