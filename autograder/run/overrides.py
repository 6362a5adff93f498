"""Points that staff gave: lines of `OUT/overrides.jsonl`, laid over a grade wherever it is told.

The record stays as the grader wrote it, so a later grading of the same hand-in changes nothing of an override. The last
line for a check, or for the total, holds. On another hand-in it is told to staff and not applied.
"""

from __future__ import annotations

import contextlib
import getpass
import math
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autograder.assignment.late import total_of
from autograder.errors import SoftmarkError
from autograder.results import Grade, Override
from autograder.text import one_line

OVERRIDES = "overrides.jsonl"
TOTAL = "total"


def append_line(path: Path, line: msgspec.Struct) -> None:
    """Add a line to a file of lines, for good. Raises `SoftmarkError` where it cannot be written."""
    try:
        with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            file.truncate(file.read().rfind(b"\n") + 1)  # a line that was cut off was never told
            file.seek(0, os.SEEK_END)
            file.write(msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SoftmarkError(f"{path} could not be written ({error.strerror}): make room for it.") from error


def read_overrides(out: Path, submission: str | None = None) -> list[Override]:
    """The overrides in `out`, oldest first; those of one submission alone.

    Raises:
        SoftmarkError: a line is damaged. A grade that a person gave is not passed over.
    """
    try:
        lines = (out / OVERRIDES).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found: list[Override] = []
    for number, line in enumerate(lines, start=1):
        try:
            one = msgspec.json.decode(line, type=Override)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):  # it was cut off while it was written, and nobody was told that it is there
                continue
            raise SoftmarkError(
                f"{out / OVERRIDES}, line {number}, is damaged ({error}): mend or remove it.", exit_code=1
            ) from error
        if submission in (None, one.submission):
            found.append(one)
    return found


def who_am_i() -> str:
    """The name under which this person is logged in, as far as it is known."""
    with contextlib.suppress(OSError, KeyError, ImportError):
        return getpass.getuser()
    return ""


def hand_in_of(grade: Grade) -> str:
    """What an override is tied to: the digest of the hand-in; of what nobody could read, the reason."""
    return grade.key.submission if grade.key is not None else f"ungraded: {grade.reason}"


def overridden(grade: Grade, overrides: Sequence[Override]) -> Grade:
    """The grade with those overrides of it that were made for this hand-in; the very same object without any."""
    mine = [each for each in overrides if each.submission == grade.submission]
    if not mine:
        return grade
    here = {each.check: each for each in mine if each.hand_in == hand_in_of(grade)}
    there = {each.check: each for each in mine if each.check not in here}
    checks = tuple(
        msgspec.structs.replace(check, score=min(here[check.number].points, check.weight))
        if check.number in here
        else check
        for check in grade.checks
    )
    if checks != grade.checks:
        grade = added_up(msgspec.structs.replace(grade, checks=checks))
        broken = {check.number for check in checks if check.outcome == "broken"}
        if grade.status == "incomplete" and broken and broken <= here.keys():
            grade = msgspec.structs.replace(grade, status="graded", reason="")
    if TOTAL in here:
        grade = msgspec.structs.replace(grade, points=here[TOTAL].points, status="graded", reason="")
    open_ = [f"{_said(each)}, for another hand-in: it is open and not applied." for each in there.values()]
    by = [f"{_said(each)}, by {each.who or 'staff'} on {each.when}: {each.why}" for each in here.values()]
    notes = [f"{_said(each)} by the course staff: {one_line(each.why, 500)}" for each in here.values()]
    return msgspec.structs.replace(
        grade, notes=(*grade.notes, *notes), staff=(*grade.staff, *(f"override: {line}" for line in (*by, *open_)))
    )


def _said(one: Override) -> str:
    what = "The total" if one.check == TOTAL else f"Check {one.check}"
    return f"{what} was set to {one.points:g} points"


def added_up(grade: Grade) -> Grade:
    """The points of the parts and the total, counted from the checks."""
    own = [each for each in grade.checks if not each.extra]
    parts = tuple(
        msgspec.structs.replace(part, points=round(math.fsum(each.score for each in own if each.part == part.part), 6))
        for part in grade.parts
    )
    extra = round(math.fsum(each.score for each in grade.checks if each.extra), 6)
    grade = msgspec.structs.replace(grade, parts=parts, extra_credit=extra)
    return msgspec.structs.replace(grade, points=total_of(grade, grade.late))
