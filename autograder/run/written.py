"""What a run writes for each submission: the record, and results.json made from it."""

from __future__ import annotations

from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.grading import record
from autograder.grading.record import folder_of, made_folder, write_atomically
from autograder.report.gradescope_json import to_results_json
from autograder.results import Grade

RESULTS = "results.json"


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
