"""What a check saw of the code it checked: fingerprints of the values that it compared, in order, and how it ended.

Traces of a student's code and of a known mistake have the same form, so that `diagnosis` can compare them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from autograder.diagnosis.fingerprint import Fingerprint, fingerprint
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch

_MOST_CHARACTERS = 200
_MOST_READ = 20_000  # a check may put all of a value into its message


class Compared(Protocol):
    """One comparison, as a check reported it."""

    what: str
    got: Any


class ItemTrace(msgspec.Struct, frozen=True, omit_defaults=True):
    """One pytest item of a check.

    Attributes:
        values: what was compared, in order. For an item that passed they are kept only for the bank.
        ending: "" if the item passed; else how it ended, in words that do not depend on rounding.
        by_value: whether the last of `values` is what failed (and not an exception, say).
    """

    values: tuple[Fingerprint, ...] = ()
    ending: str = ""
    by_value: bool = False


class CheckTrace(msgspec.Struct, frozen=True, omit_defaults=True):
    """All items of one check.

    Attributes:
        number: of the check.
        items: in their order.
        functions: the names of the student's functions that it called.
        bonus: whether it is worth no points.
    """

    number: str
    items: tuple[ItemTrace, ...]
    functions: tuple[str, ...] = ()
    bonus: bool = False

    @property
    def tells(self) -> bool:
        """Whether every item ran on code that is there: a check that was not run says nothing of the code."""
        return not any(item.ending in ("not_run", "missing") for item in self.items)

    @property
    def fails(self) -> bool:
        """Whether an item failed."""
        return any(item.ending for item in self.items)


def trace_item(comparisons: Sequence[Compared], error: BaseException | None, *, keep_all: bool = False) -> ItemTrace:
    """The trace of one item.

    Args:
        comparisons: in order, up to and including the one that failed.
        error: what ended the item; None if it passed.
        keep_all: also fingerprint the values of an item that passed. The bank needs them; grading saves the time.
    """
    ending = _ending(error)
    values = tuple(fingerprint(each.got) for each in comparisons) if ending or keep_all else ()
    by_value = bool(values) and _is_about(error, comparisons[-1].what)
    return ItemTrace(values, ending, by_value)


def _is_about(error: BaseException | None, what: str) -> bool:
    """Whether an assertion is about the value compared last. A plain `assert` is taken to be."""
    if isinstance(error, Mismatch):
        return error.is_about(what)
    return isinstance(error, AssertionError)


def _ending(error: BaseException | None) -> str:
    if error is None:
        return ""
    if isinstance(error, StudentError):
        return f"failed {_normal(str(error))}" if error.outcome == "failed" else error.outcome
    if isinstance(error, Mismatch):  # rows of numbers are compared as numbers, not as text
        return f"mismatch {_without_numbers(error.what if '=' in error.got else f'{error.what}: {error.got}')}"
    if isinstance(error, AssertionError):
        return f"assertion {_without_numbers(str(error)[:_MOST_READ].partition(chr(10))[0])}"
    return f"error {type(error).__name__}"


def _normal(text: str) -> str:
    """One line, without addresses and without numbers that rounding may change."""
    text = re.sub(r"0x[0-9a-fA-F]+", "0x", " ".join(text[:_MOST_READ].split()))
    return re.sub(r"-?\d+\.\d*(e[+-]?\d+)?|-?\d+e[+-]?\d+", "#", text)[:_MOST_CHARACTERS]


def _without_numbers(text: str) -> str:
    return re.sub(r"-?\d+(\.\d*)?(e[+-]?\d+)?", "#", " ".join(text[:_MOST_READ].split()))[:_MOST_CHARACTERS]
