"""What a run writes: for each submission the record and results.json made from it, for the run what it went over."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.grading import record
from autograder.grading.record import folder_of, made_folder, write_atomically
from autograder.report.gradescope_json import to_results_json
from autograder.results import Grade, to_json

RESULTS = "results.json"
BEFORE = "grade.before.json"
RUN = "run.json"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The latest run over a folder of hand-ins: of which assignment, and what all of them are called."""

    assignment: str
    names: tuple[str, ...]


def note_run(out: Path, run: Run) -> None:
    """Keep what a run over all goes over."""
    write_atomically(out / RUN, msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")


def latest_run(out: Path, assignment: str) -> Run | None:
    """The latest run over all; None where there was none of this assignment."""
    try:
        run = msgspec.json.decode((out / RUN).read_bytes(), type=Run)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return run if run.assignment == assignment else None


def recorded(out: Path, assignment: Assignment) -> list[Grade]:
    """The records of this assignment in `out`; of one that cannot be read, an ungraded grade that says so."""
    grades: list[Grade] = []
    for path in sorted(out.glob("*/grade.json")):
        grade = record.read(out, path.parent.name) or Grade(
            submission=path.parent.name,
            assignment=assignment.name,
            status="ungraded",
            points=None,
            maximum=assignment.maximum,
            reason="grade.json is damaged: grade this submission again",
        )
        if grade.assignment == assignment.name:
            grades.append(grade)
    return grades


def write(out: Path, grade: Grade) -> None:
    """Write results.json, then grade.json; each is whole or not there.

    Only the record waits for the disk: results.json can be made again from it.
    """
    write_atomically(made_folder(out, grade.submission) / RESULTS, to_results_json(grade), durably=False)
    record.write(out, grade)


def begin(out: Path, submission: str, assignment: Assignment) -> None:
    """Before the first check: a results.json that says that grading has not finished, 0 points. No record is made."""
    unfinished = Grade(
        submission=submission,
        assignment=assignment.name,
        status="incomplete",
        points=0.0,
        maximum=assignment.maximum,
        reason="grading had not finished when this was written",
        notes=("Grading had not finished when this was written.",),
    )
    write_atomically(made_folder(out, submission) / RESULTS, to_results_json(unfinished), durably=False)


def renew(out: Path, grade: Grade) -> None:
    """Make results.json from a record that still holds, where a run that was cut short has left another one."""
    path, content = folder_of(out, grade.submission) / RESULTS, to_results_json(grade)
    try:
        current = path.read_bytes()
    except OSError:
        current = b""
    if current != content:
        write_atomically(path, content)


def replace(out: Path, before: Grade | None, grade: Grade) -> Grade:
    """Write a grade in the place of the one before. Returns the grade with a line for staff where that was whole.

    An incomplete grade never replaces a whole one. That the hand-in can no longer be read does, and what was earned
    before lies beside it.
    """
    if before is None or before.status != "graded" or grade.status == "graded":
        write(out, grade)
        return grade
    if grade.status == "incomplete":
        return keep(out, before, grade)
    write_atomically(made_folder(out, grade.submission) / BEFORE, to_json(before))
    grade = _noted(grade, before, f"lies in {BEFORE}")
    write(out, grade)
    return grade


def keep(out: Path, before: Grade, grade: Grade) -> Grade:
    """Let the grade before stand. Returns the new one with a line for staff that says so."""
    renew(out, before)
    return _noted(grade, before, "is kept")


def _noted(grade: Grade, before: Grade, where: str) -> Grade:
    return msgspec.structs.replace(
        grade, staff=(*grade.staff, f"earlier: the grade of {before.points:g} points {where}.")
    )
