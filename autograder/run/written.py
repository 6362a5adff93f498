"""What a run writes: for each submission the record and what is made from it, for the run what it went over.

A record is an attempt of its own in `attempts/`, and stays there. `grade.json` is a copy of the one that counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.grading import record
from autograder.grading.record import folder_of, made_folder, write_atomically
from autograder.intake.roster import Person
from autograder.report.feedback import feedback_page
from autograder.report.gradescope_json import to_results_json
from autograder.results import Grade, to_json
from autograder.run.overrides import added_up, overridden, read_overrides

RESULTS = "results.json"
ATTEMPTS = "attempts"
FEEDBACK = "feedback.html"
RUN = "run.json"
HISTORY = "history.jsonl"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The latest run over a folder of hand-ins: of which assignment, and what all of them are called.

    `folder` and `hand_ins` are the paths of both, `digest` is the assignment's, `paths` are those of the hand-ins, and
    the digests of these stand in their records. `people` are those of the roster, where one was given.
    """

    assignment: str
    names: tuple[str, ...]
    folder: str = ""
    hand_ins: str = ""
    digest: str = ""
    paths: dict[str, str] = {}
    allow_missing: tuple[str, ...] = ()
    people: tuple[Person, ...] = ()


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A line of `history.jsonl`: who did what to the grades, when and why."""

    when: str
    who: str
    what: str
    why: str = ""


class Attempt(msgspec.Struct, frozen=True):
    """What an attempt's file says first; the rest of it is a whole `Grade`."""

    status: str
    points: float | None


def now() -> str:
    """The time as it is written everywhere: ISO 8601, UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def note_run(out: Path, run: Run) -> None:
    """Keep what a run over all goes over."""
    write_atomically(out / RUN, msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")


def latest_run(out: Path, assignment: str = "") -> Run | None:
    """The latest run over all; None where there was none of this assignment."""
    try:
        run = msgspec.json.decode((out / RUN).read_bytes(), type=Run)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return run if run.assignment == assignment or not assignment else None


def attempts(out: Path, submission: str) -> list[tuple[str, Path]]:
    """Every attempt at a submission, oldest first: its time and its file."""
    paths = sorted((folder_of(out, submission) / ATTEMPTS).glob("*.json"))
    return [(path.name.partition("-")[0], path) for path in paths]


def recorded(out: Path, assignment: str, maximum: float) -> Iterator[Grade]:
    """The records of an assignment in `out`, with what staff has overridden, by name and one at a time.

    Of one that cannot be read, an ungraded grade that says so.
    """
    overrides = read_overrides(out)
    for path in sorted(out.glob("*/grade.json")):
        grade = record.read(out, path.parent.name) or Grade(
            submission=path.parent.name,
            assignment=assignment,
            status="ungraded",
            points=None,
            maximum=maximum,
            reason="grade.json is damaged: grade this submission again",
        )
        if grade.assignment == assignment:
            yield overridden(grade, overrides)


def as_told(out: Path, grade: Grade) -> Grade:
    """The grade with what staff has overridden."""
    return overridden(grade, read_overrides(out, grade.submission))


def write(out: Path, grade: Grade) -> None:
    """Write results.json and feedback.html, then the attempt and its copy grade.json; each is whole or not there.

    Only records wait for the disk: the others can be made again from them.
    """
    folder = made_folder(out, grade.submission)
    for name, content in _made_from(as_told(out, grade)).items():
        write_atomically(folder / name, content, durably=False)
    _keep_attempt(out, grade)
    record.write(out, grade)


def _keep_attempt(out: Path, grade: Grade) -> None:
    """Keep a record for good, under its time and the beginning of its digest."""
    content = to_json(grade)
    folder = made_folder(out, f"{grade.submission}/{ATTEMPTS}")
    digest = hashlib.sha256(content).hexdigest()[:12]
    if not any(folder.glob(f"*-{digest}.json")):
        time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        write_atomically(folder / f"{time}-{digest}.json", content)


def _made_from(grade: Grade) -> dict[str, bytes]:
    return {RESULTS: to_results_json(grade), FEEDBACK: feedback_page(grade).encode()}


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
    """Make what is made from a record that still holds, where a run that was cut short has left others."""
    for name, content in _made_from(as_told(out, grade)).items():
        path = folder_of(out, grade.submission) / name
        try:
            current = path.read_bytes()
        except OSError:
            current = b""
        if current != content:
            write_atomically(path, content)


def replace(out: Path, before: Grade | None, grade: Grade) -> Grade:
    """Write a grade in the place of the one before. Returns the grade with a line for staff where that was whole.

    An incomplete grade never replaces a whole one. That the hand-in can no longer be read does.
    """
    if before is None or before.status != "graded" or grade.status == "graded":
        write(out, grade)
        return grade
    if grade.status == "incomplete":
        return keep(out, before, grade)
    _keep_attempt(out, before)  # one of a time without attempts lies nowhere else
    grade = _noted(grade, before, f"lies in {ATTEMPTS}/")
    write(out, grade)
    return grade


def spliced(before: Grade, look: Grade) -> Grade | None:
    """The grade before with the checks that ran anew; None where nobody can say that the others still hold.

    The others are taken to hold under the assignment as it is now: whoever asks for single checks says so.
    """
    keys = before.key, look.key
    if before.status != "graded" or keys[0] is None or keys[1] is None or keys[0].submission != keys[1].submission:
        return None
    anew = {check.number: check for check in look.checks}
    numbers = {check.number for check in before.checks}
    if not anew.keys() <= numbers or any(check.outcome == "broken" for check in look.checks):
        return None
    checks = tuple(anew.get(check.number, check) for check in before.checks)
    return added_up(
        msgspec.structs.replace(
            before, checks=checks, key=look.key, late=look.late, submitters=look.submitters, sandbox=look.sandbox
        )
    )


def keep(out: Path, before: Grade, grade: Grade) -> Grade:
    """Let the grade before stand. Returns the new one, an attempt that does not count, with a line that says so."""
    renew(out, before)
    grade = _noted(grade, before, "is kept")
    _keep_attempt(out, grade)
    return grade


def _noted(grade: Grade, before: Grade, where: str) -> Grade:
    return msgspec.structs.replace(
        grade, staff=(*grade.staff, f"earlier: the grade of {before.points:g} points {where}.")
    )
