"""grades.csv: one row a submission, made from grades, written atomically.

A cell is blank where there is no grade: for a submission that nobody could read all but the maximum is blank, and for a
check that broke on our side its points are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from autograder.grading.record import write_atomically
from autograder.intake.roster import Match, Person, match
from autograder.intake.sheet import cell
from autograder.results import Grade, Submitter, number_key
from autograder.text import one_line, visible

_DECIMALS = 6
_REASON = 1000  # characters: a file name may be longer than a spreadsheet's cell
_WHO = ("name", "sid", "email")
_HEAD = ("submission", *_WHO, "status", "total", "maximum", "late_hours", "late_percent", "absent")
_PERSON = ("name", "sid", "email", "login", "submission", "status", "total", "maximum", "late_percent", "remark")


class Row(NamedTuple):
    """One grade as cells: all that tables of a class need of it, in little memory."""

    submission: str
    submitters: tuple[Submitter, ...]
    status: str
    total: str
    maximum: str
    late: tuple[str, str]
    extra: str
    parts: tuple[tuple[int, str], ...]
    part_points: tuple[str, ...]
    numbers: tuple[str, ...]
    check_points: tuple[str, ...]
    reason: str


def row_of(grade: Grade) -> Row:
    """The cells of a grade. The total is blank unless the grade is whole; so are points of what broke on our side."""
    graded = grade.status != "ungraded"
    return Row(
        submission=grade.submission,
        submitters=grade.submitters,
        status=grade.status,
        total=points_cell(grade.points) if grade.status == "graded" and grade.points is not None else "",
        maximum=points_cell(grade.maximum),
        late=_lateness(grade),
        extra=points_cell(grade.extra_credit) if grade.extra_credit else "",
        parts=_shared(tuple((part.number, part.part) for part in grade.parts)),
        part_points=_shared(tuple(points_cell(part.points) if graded else "" for part in grade.parts)),
        numbers=_shared(tuple(check.number for check in grade.checks)),
        check_points=_shared(
            tuple("" if c.outcome == "broken" or not graded else points_cell(c.score) for c in grade.checks)
        ),
        reason=one_line(grade.reason, _REASON),
    )


def gradebook_csv(rows: Iterable[Row], present: Collection[str] | None = None) -> str:
    """The gradebook as CSV: submission, people, status, total, maximum, lateness, absent, parts, checks, reason.

    People of a group stand in one row, parted by semicolons, where an export names them.

    `absent` is "yes" for a submission that is not among `present`, the hand-ins of the latest run over all; without
    that it is blank.

    `late_hours` have passed since the due date, and `late_percent` are taken off; the total has that taken off, parts
    and checks do not. `extra_credit` is there where somebody earned any: the total has it as far as the cap lets it
    count. Blank where there is no policy, or where nobody can tell. Rows are in the order of the
    submissions' names; columns are all that any grade has.
    """
    rows = sorted(rows, key=lambda row: row.submission)
    parts = [name for _, name in sorted({part for row in rows for part in row.parts})]
    numbers = sorted({number for row in rows for number in row.numbers}, key=number_key)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    extra = any(row.extra for row in rows)
    writer.writerow([*_HEAD, *["extra_credit"] * extra, *map(_cell, parts), *map(_cell, numbers), "reason"])
    for row in rows:
        points = {name: each for (_, name), each in zip(row.parts, row.part_points, strict=True)}
        checks = dict(zip(row.numbers, row.check_points, strict=True))
        writer.writerow(
            [
                _cell(row.submission),
                *(_cell("; ".join(getattr(each, what) for each in row.submitters)) for what in _WHO),
                row.status,
                row.total,
                row.maximum,
                *row.late,
                "yes" if present is not None and row.submission not in present else "",
                *[row.extra] * extra,
                *(points.get(part, "") for part in parts),
                *(checks.get(number, "") for number in numbers),
                _cell(row.reason),
            ]
        )
    return text.getvalue()


def people_csv(rows: Sequence[Row], people: Sequence[Person], *, listed: bool = True) -> str:
    """One row a person: those of the roster, in its order, then hand-ins that are nobody's.

    Who has handed in nothing, or twice, has no total, and the remark says so. `listed`: the people are a roster's.
    """
    by_name = {row.submission: row for row in rows}
    found = matched(rows, people)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_PERSON)
    for place, person in enumerate(people):
        who = [person.name, person.sid, person.email, person.login]
        names = found.of.get(place, ())
        remark = "" if len(names) == 1 else f"{len(names)} hand-ins" if names else "handed in nothing"
        writer.writerow([*map(_cell, who), *_of_row(by_name[names[0]] if len(names) == 1 else None, names), remark])
    for name in found.unmatched:
        row = by_name[name]
        who = ["; ".join(getattr(each, what) for each in row.submitters) for what in _WHO]
        writer.writerow([*map(_cell, who), "", *_of_row(row, (name,)), "not in the roster" if listed else ""])
    return text.getvalue()


def matched(rows: Sequence[Row], people: Sequence[Person]) -> Match:
    """Whose each submission is."""
    return match(people, [(row.submission, row.submitters) for row in rows])


def _of_row(row: Row | None, names: Sequence[str]) -> list[str]:
    if row is None:
        return [_cell("; ".join(names)), "", "", "", ""]
    return [_cell(row.submission), row.status, row.total, row.maximum, row.late[1]]


def write_gradebook(rows: Iterable[Row], path: Path, present: Collection[str] | None = None) -> None:
    """Write the gradebook to `path`: a reader sees the old file or the whole new one. Raises `SoftmarkError`."""
    write_atomically(path, gradebook_csv(rows, present).encode("utf-8"))


def write_people(rows: Sequence[Row], people: Sequence[Person], path: Path) -> None:
    """Write the list of people to `path`, likewise."""
    write_atomically(path, people_csv(rows, people).encode("utf-8"))


@cache
def _shared(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same object for equal values: a class has few different rows of points."""
    return value


def _lateness(grade: Grade) -> tuple[str, str]:
    late = grade.late
    if late is None or late.hours is None:
        return "", ""
    return f"{late.hours:.4f}".rstrip("0").rstrip("."), points_cell(late.percent)


def points_cell(points: float) -> str:
    """Points as a cell: as short as six decimals can be written."""
    return f"{round(points, _DECIMALS):.{_DECIMALS}f}".rstrip("0").rstrip(".")


def _cell(text: str) -> str:
    return cell(visible(text))
