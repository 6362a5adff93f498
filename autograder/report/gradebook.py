"""grades.csv: one row a submission, made from grades, written atomically.

A cell is blank where there is no grade: for a submission that nobody could read all but the maximum is blank, and for a
check that broke on our side its points are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from autograder.grading.record import write_atomically
from autograder.results import Grade, number_key
from autograder.text import one_line, visible

_DECIMALS = 6
_REASON = 1000  # characters: a file name may be longer than a spreadsheet's cell
_FORMULAS = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # wide ones are taken for narrow
_WHO = ("name", "sid", "email")
_HEAD = ("submission", *_WHO, "status", "total", "maximum", "late_hours", "late_percent", "absent")


def gradebook_csv(grades: Iterable[Grade], present: Collection[str] | None = None) -> str:
    """The gradebook as CSV: submission, people, status, total, maximum, lateness, absent, parts, checks, reason.

    People of a group stand in one row, parted by semicolons, where an export names them.

    The total is blank unless the grade is whole. `absent` is "yes" for a submission that is not among `present`, the
    hand-ins of the latest run over all; without that it is blank.

    `late_hours` have passed since the due date, and `late_percent` are taken off; the total has that taken off, parts
    and checks do not. Blank where there is no policy, or where nobody can tell. Rows are in the order of the
    submissions' names; columns are all that any grade has.
    """
    rows = sorted(grades, key=lambda grade: grade.submission)
    parts = _part_names(rows)
    numbers = sorted({check.number for grade in rows for check in grade.checks}, key=number_key)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_HEAD, *map(_cell, parts), *map(_cell, numbers), "reason"])
    for grade in rows:
        points = {part.part: _points(part.points) for part in grade.parts}
        checks = {c.number: "" if c.outcome == "broken" else _points(c.score) for c in grade.checks}
        graded = grade.status != "ungraded"
        writer.writerow(
            [
                _cell(grade.submission),
                *(_cell("; ".join(getattr(each, what) for each in grade.submitters)) for what in _WHO),
                grade.status,
                _points(grade.points) if grade.status == "graded" and grade.points is not None else "",
                _points(grade.maximum),
                *_lateness(grade),
                "yes" if present is not None and grade.submission not in present else "",
                *(points.get(part, "") if graded else "" for part in parts),
                *(checks.get(number, "") if graded else "" for number in numbers),
                _cell(one_line(grade.reason, _REASON)),
            ]
        )
    return text.getvalue()


def write_gradebook(grades: Iterable[Grade], path: Path, present: Collection[str] | None = None) -> None:
    """Write the gradebook to `path`: a reader sees the old file or the whole new one. Raises `SoftmarkError`."""
    write_atomically(path, gradebook_csv(grades, present).encode("utf-8"))


def _part_names(grades: Sequence[Grade]) -> list[str]:
    """Parts by number; two parts of one name never meet, because the manifest refuses them."""
    numbers: dict[str, int] = {}
    for grade in grades:
        for part in grade.parts:
            numbers.setdefault(part.part, part.number)
    return sorted(numbers, key=lambda name: (numbers[name], name))


def _lateness(grade: Grade) -> tuple[str, str]:
    late = grade.late
    if late is None or late.hours is None:
        return "", ""
    return f"{late.hours:.4f}".rstrip("0").rstrip("."), _points(late.percent)


def _points(points: float) -> str:
    return f"{round(points, _DECIMALS):.{_DECIMALS}f}".rstrip("0").rstrip(".")


def _cell(text: str) -> str:
    """A name as a cell that no spreadsheet reads as a formula, since students choose their file names."""
    text = visible(text)
    return f"'{text}" if text.startswith(_FORMULAS) else text
