"""Two runs compared: whose grade changes, by how much and why.

Reasons are checks that give something else (with what each found before and now), another hand-in, and late work that
is counted differently. The findings are for staff: those of hidden checks are complete.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.report.view import explained, for_staff
from autograder.results import CheckResult, Grade, Outcome, Status, number_key
from autograder.text import one_line

Kind = Literal["changed", "same points", "same", "added", "missing", "unreadable"]
_LEAST = 1e-6
_FINDING_CHARACTERS = 200


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a check said of a submission; `finding` is empty where it passed."""

    outcome: Outcome
    score: float
    weight: float
    finding: str = ""


class CheckChange(msgspec.Struct, frozen=True, kw_only=True):
    """A check that gives something else; one side is None where the run does not have it.

    `points` is the difference; None where the check broke, or did not run, on one side.
    """

    number: str
    name: str
    before: Verdict | None
    after: Verdict | None
    points: float | None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One submission in both runs, or in one of them.

    `points` is the difference of the totals, or, where a grade is not whole, that of the checks that ran in both; None
    where there is nothing to subtract. `why` says what no check explains. `whole` is False where the new run has no
    whole grade, though the old one has.
    """

    submission: str
    kind: Kind
    old: float | None = None
    new: float | None = None
    old_status: Status | None = None
    new_status: Status | None = None
    points: float | None = None
    whole: bool = True
    why: tuple[str, ...] = ()
    checks: tuple[CheckChange, ...] = ()


class CheckTotal(msgspec.Struct, frozen=True, kw_only=True):
    """What one check changes in all submissions together."""

    number: str
    rise: int
    fall: int
    other: int
    points: float


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of one assignment. `between` says what else differs: assignment, grader, versions."""

    assignment: str
    old: str
    new: str
    between: tuple[str, ...]
    changes: tuple[Change, ...]
    checks: tuple[CheckTotal, ...]

    def of(self, *kinds: Kind) -> list[Change]:
        """The submissions of these kinds."""
        return [change for change in self.changes if change.kind in kinds]

    @property
    def open(self) -> list[Change]:
        """Submissions whose change nobody can tell: gone, unreadable, or no longer a whole grade."""
        return [change for change in self.changes if not change.whole or change.kind in ("missing", "unreadable")]


def compare(old: Path, new: Path) -> Comparison:
    """Compare the records of two runs.

    Raises:
        SoftmarkError: a folder that holds no grades, or grades of two assignments.
    """
    before, after = _grades(old), _grades(new)
    names = {grade.assignment for run in (before, after) for grade in run.values() if grade is not None}
    if len(names) > 1:
        raise SoftmarkError(f"{old} and {new} hold grades of {' and '.join(sorted(names))}: compare runs of one.")
    changes = [_change_of(name, before, after) for name in sorted(before.keys() | after.keys())]
    pairs = [(before[name], after[name]) for name in sorted(before.keys() & after.keys())]
    return Comparison(
        assignment="".join(names),
        old=str(old),
        new=str(new),
        between=tuple(_between([(one, two) for one, two in pairs if one is not None and two is not None])),
        changes=tuple(changes),
        checks=tuple(_totals(changes)),
    )


def _grades(run: Path) -> dict[str, Grade | None]:
    """The records of a run by submission; None for one that cannot be read."""
    names = sorted(path.parent.name for path in run.glob("*/grade.json"))
    if not names:
        what = "holds no grades" if run.is_dir() else "is not a folder"
        raise SoftmarkError(f"{run} {what}: give a folder that `softmark grade -o` wrote.")
    return {name: record.read(run, name) for name in names}


def _change_of(name: str, before: Mapping[str, Grade | None], after: Mapping[str, Grade | None]) -> Change:
    unreadable = [which for which, run in (("old", before), ("new", after)) if name in run and run[name] is None]
    if unreadable:
        return Change(submission=name, kind="unreadable", why=(f"the {unreadable[0]} grade.json cannot be read",))
    old, new = before.get(name), after.get(name)
    if old is not None and new is not None:
        return _change(name, old, new)
    kind: Kind = "added" if new is not None else "missing"
    there = old or new
    assert there is not None
    points, status = there.points, there.status
    if kind == "added":
        return Change(submission=name, kind=kind, new=points, new_status=status)
    return Change(submission=name, kind=kind, old=points, old_status=status)


def _change(name: str, old: Grade, new: Grade) -> Change:
    checks = tuple(_check_changes(old, new))
    whole = old.status == new.status == "graded"
    points = None if new.points is None or old.points is None else new.points - old.points
    if "incomplete" in (old.status, new.status):  # some checks did not run, or broke: only the others can be compared
        told = [change.points for change in checks if change.points is not None]
        points = math.fsum(told) if old.checks and new.checks else None
    why = tuple(_why(old, new))
    kind: Kind
    if points is None:
        kind = "changed" if old.points != new.points else "same points" if why else "same"
    elif abs(points) > _LEAST or abs(old.maximum - new.maximum) > _LEAST:
        kind = "changed"
    else:
        kind = "same points" if checks or why else "same"
    return Change(
        submission=name,
        kind=kind,
        old=old.points,
        new=new.points,
        old_status=old.status,
        new_status=new.status,
        points=None if points is None else round(points, 6),
        whole=whole or new.status == "graded" or old.status == new.status == "ungraded",
        why=why,
        checks=checks,
    )


# ------------------------------------------------------------------ why


def _why(old: Grade, new: Grade) -> Iterable[str]:
    """What stands in no check."""
    if old.status != new.status:
        reason = f" ({one_line(new.reason, 160)})" if new.reason else ""
        yield f"was {old.status}, is {new.status}{reason}"
    elif old.reason != new.reason:
        yield f"{new.status}: {one_line(new.reason, 160)}"
    if old.key is not None and new.key is not None and old.key.submission != new.key.submission:
        yield "other files were handed in"
    if abs(old.maximum - new.maximum) > _LEAST:
        yield f"out of {new.maximum:g}, was out of {old.maximum:g}"
    if old.late != new.late:
        taken = [late.percent if late is not None else 0.0 for late in (old.late, new.late)]
        if taken[0] != taken[1]:
            yield f"late work: {taken[1]:g} % taken off, was {taken[0]:g} %"


def _check_changes(old: Grade, new: Grade) -> Iterable[CheckChange]:
    """The checks that give something else: another outcome, score, weight or finding."""
    before, after = ({check.number: check for check in grade.checks} for grade in (old, new))
    for number in sorted(before.keys() | after.keys(), key=number_key):
        one, two = before.get(number), after.get(number)
        if (one is None and old.status != "graded") or (two is None and new.status != "graded"):
            continue  # it did not run there, which the status says
        change = CheckChange(
            number=number,
            name=(two or one).name,  # pyright: ignore[reportOptionalMemberAccess] one of them is there
            before=_verdict(one),
            after=_verdict(two),
            points=_points(one, two),
        )
        if change.before != change.after:
            yield change


def _verdict(check: CheckResult | None) -> Verdict | None:
    if check is None:
        return None
    return Verdict(outcome=check.outcome, score=check.score, weight=check.weight, finding=_finding(check))


def _finding(check: CheckResult) -> str:
    """What the check found wrong, on one line: the cause, else the numbers, else what staff reads."""
    if check.outcome == "passed":
        return ""
    told = explained(check)
    if told is None:
        return one_line(for_staff(check), _FINDING_CHARACTERS)
    numbers = f"expected {told.expected}, got {told.got}" if told.expected and told.got else told.got
    words = next((text for text in (told.cause, numbers, for_staff(check)) if text.strip()), "")
    return one_line(words, _FINDING_CHARACTERS)


def _points(one: CheckResult | None, two: CheckResult | None) -> float | None:
    if any(check is not None and check.outcome == "broken" for check in (one, two)):
        return None
    return round((two.score if two else 0.0) - (one.score if one else 0.0), 6)


# ------------------------------------------------------------------ all of them together


def _between(pairs: Iterable[tuple[Grade, Grade]]) -> Iterable[str]:
    """What else differs between the runs, found in the keys of their records."""
    keys = [(old.key, new.key) for old, new in pairs if old.key is not None and new.key is not None]
    if any(old.assignment != new.assignment for old, new in keys):
        yield "the assignment (manifest, checks, handout or solutions)"
    if any(old.grader != new.grader for old, new in keys):
        yield "the grader's own sources"
    for what in ("softmark", "torch", "python"):
        versions = sorted({(getattr(old.versions, what), getattr(new.versions, what)) for old, new in keys})
        yield from (f"{what} {one} -> {two}" for one, two in versions if one != two)
    others = sum(old.submission != new.submission for old, new in keys)
    if others:
        yield f"what {others} of {len(keys)} handed in"


def _totals(changes: Iterable[Change]) -> Iterable[CheckTotal]:
    by_number: dict[str, list[float | None]] = {}
    for change in changes:
        for check in change.checks:
            by_number.setdefault(check.number, []).append(check.points)
    for number in sorted(by_number, key=number_key):
        points = [each for each in by_number[number] if each is not None]
        rise, fall = sum(each > _LEAST for each in points), sum(each < -_LEAST for each in points)
        yield CheckTotal(
            number=number,
            rise=rise,
            fall=fall,
            other=len(by_number[number]) - rise - fall,
            points=round(math.fsum(points), 6),
        )
