"""What tells of a whole class, made from the records: grades.csv, people.csv and gradebook.sqlite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.report.database import new_database
from autograder.report.gradebook import Row, row_of, write_gradebook, write_people
from autograder.results import Grade
from autograder.run.overrides import append_line, read_overrides
from autograder.run.written import HISTORY, Attempt, Event, attempts, latest_run, recorded


def write_books(out: Path, assignment: str, maximum: float) -> list[Row]:
    """Make all of them anew and return the rows. One record at a time is in memory.

    Raises:
        SoftmarkError: one cannot be written, or a line of overrides.jsonl is damaged.
    """
    run = latest_run(out, assignment)
    present = frozenset(run.names) if run is not None else None
    rows: list[Row] = []
    with new_database(out / "gradebook.sqlite") as database:
        for grade in recorded(out, assignment, maximum):
            rows.append(row_of(grade))
            absent = None if present is None else grade.submission not in present
            database.add(grade, absent, _attempts(out, grade.submission))
        database.add_overrides(read_overrides(out))
        database.add_history((each.when, each.who, each.what, each.why) for each in history(out))
    write_gradebook(rows, out / "grades.csv", present)
    if run is not None and run.people:
        write_people(rows, run.people, out / "people.csv")
    return rows


def grades_in(out: Path) -> Iterator[Grade]:
    """All grades in `out`, with overrides, one at a time. Raises `SoftmarkError` where there is none."""
    run = latest_run(out)
    name = run.assignment if run is not None else ""
    if not name:
        grades = (record.read(out, path.parent.name) for path in sorted(out.glob("*/grade.json")))
        name = next((grade.assignment for grade in grades if grade is not None), "")
    one = None
    for one in recorded(out, name, 0.0):
        yield one
    if one is None:
        what = "holds no grades" if out.is_dir() else "is not a folder"
        raise SoftmarkError(f"{out} {what}: give a folder that `softmark grade -o` wrote.")


def _attempts(out: Path, submission: str) -> Iterator[tuple[str, str, str, float | None]]:
    for time, path in attempts(out, submission):
        try:
            said = msgspec.json.decode(path.read_bytes(), type=Attempt)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            said = Attempt("damaged", None)
        yield time, path.name, said.status, said.points


def described_attempts(out: Path, submission: str) -> list[str]:
    """Each attempt at a submission in a few words, oldest first."""
    return [
        f"{time}: {status}" + (f", {points:g} points" if isinstance(points, float) else "")
        for time, _, status, points in _attempts(out, submission)
    ]


def history(out: Path) -> list[Event]:
    """Who did what to the grades, oldest first; a damaged line is passed over."""
    found: list[Event] = []
    try:
        lines = (out / HISTORY).read_bytes().splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Event))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return found


def note_event(out: Path, event: Event) -> None:
    """Keep who did what."""
    append_line(out / HISTORY, event)
