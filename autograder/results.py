"""What grading yields: one `CheckResult` a check, one `Grade` a submission, and their JSON.

Typed, frozen, strict in both directions. It decides no score and renders nothing.
"""

from __future__ import annotations

import math
import re
from typing import Literal

import msgspec

Outcome = Literal["passed", "partial", "failed", "crashed", "timed_out", "missing", "not_run", "broken"]
Visibility = Literal["visible", "hidden", "after_due_date", "after_published"]
Status = Literal["graded", "incomplete", "ungraded"]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The five lines of a failing check, in the order in which they are shown. An empty line is not shown."""

    property: str
    case: str = ""
    expected: str = ""
    got: str = ""
    cause: str = ""
    read: str = ""


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check (all items of a parametrised one together).

    `outcome` says what happened: *passed* in full; *partial* credit; *failed* by its assertion or by an exception of
    the student's; *crashed* (the worker died); *timed_out*; *missing* (the function is not there or not implemented);
    *not_run* (its part did not import, or the deadline came first); *broken* (the check itself or the grader failed:
    `staff` says how, and the grade is incomplete).
    """

    number: str
    name: str
    part: str
    title: str
    weight: float
    score: float
    outcome: Outcome
    hidden: bool = False
    visibility: Visibility = "visible"
    explanation: Explanation | None = None
    output: str = ""
    staff: str = ""
    tags: tuple[str, ...] = ()
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0.0 <= self.score <= self.weight):
            raise ValueError(f"check {self.number}: a score of {self.score} is not in [0, {self.weight}]")


class PartPoints(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one part, out of the maximum that the manifest declares."""

    part: str
    number: int
    points: float
    maximum: float


class LeaderboardEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One column of the leaderboard, as Gradescope knows it."""

    name: str
    value: float | str | None
    order: Literal["asc", "desc"] = "desc"


class Submitter(msgspec.Struct, frozen=True, kw_only=True):
    """One person of those who handed in, as an export names them. `sid` is text: leading zeros count."""

    name: str = ""
    sid: str = ""
    email: str = ""


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    """What late work costs a grade: `percent` of its points, or of its maximum; `floor_percent` of its points remain.

    `sentence` says so to the student, where anything is taken off; `staff` says why it could not be told. `hours` have
    passed since the due date that held (extra time counts, grace does not): 0 in time, None where it could not be told.
    """

    percent: float = 0.0
    of: Literal["points", "maximum"] = "points"
    floor_percent: float = 0.0
    sentence: str = ""
    staff: str = ""
    hours: float | None = None


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """What a grade depends on beside the submission and the assignment."""

    softmark: str
    torch: str
    python: str


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """Hashes of everything that a grade depends on: when one differs, the grade is stale."""

    submission: str
    assignment: str
    grader: str
    versions: Versions


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """All check results of one submission: the content of `grade.json`.

    `status` is *graded*; *incomplete* (a check of ours broke, or the run was cut short: `reason`); or *ungraded*
    (nobody could read what was handed in: `reason`), in which case `points` is None. `notes` are said to the student
    (a renamed file was recognised, a function was defined twice); `staff` are not. `points` are those of the parts,
    less what `late` takes off (`late.points_after`).
    """

    submission: str
    assignment: str
    status: Status
    points: float | None
    maximum: float
    parts: tuple[PartPoints, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    notes: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()
    reason: str = ""
    leaderboard: tuple[LeaderboardEntry, ...] = ()
    submitters: tuple[Submitter, ...] = ()
    late: Lateness | None = None
    sandbox: dict[str, str] = {}
    wall_seconds: float = 0.0
    key: Key | None = None


def number_key(number: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts "2.10" after "2.9", and "2.1b" right after "2.1"."""
    return tuple((0, int(bit), "") if bit.isdigit() else (1, 0, bit) for bit in re.findall(r"\d+|[^\d.\s]+", number))


def to_json(grade: Grade) -> bytes:
    """The grade as indented UTF-8 JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(grade), indent=1) + b"\n"


def from_json(data: bytes) -> Grade:
    """Read a grade back. Raises `msgspec.DecodeError` for anything that is not exactly one."""
    return msgspec.json.decode(data, type=Grade, strict=True)
