"""Grades one submission in a process of its own: `python -m autograder.gradescope.grade_one FOLDER`.

What it is to do stands in FOLDER (`Order`); there it leaves the grade, or why there is none, and, as it goes, each
result as it comes, so that whoever ends it has what was known by then. It writes no results.json: `harness` does.
"""

from __future__ import annotations

import hmac
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import GraderError, SoftmarkError
from autograder.gradescope.handoff import AGAIN, DONE, GRADE, NO, ORDER, PLAN, PROGRESS, REFUSED, REPORT, Order
from autograder.results import CheckResult, Explanation, Grade, PartPoints, Stopped
from autograder.run.session import Session

if TYPE_CHECKING:  # it loads torch, for which the fork server does not wait
    from autograder.grading.grader import Grader


def main(folder: Path) -> int:
    """Carry out the order in `folder`.

    Returns the exit status: see `handoff`.
    """
    order = msgspec.json.decode((folder / ORDER).read_bytes(), type=Order)
    report = _Report(folder / REPORT)
    try:
        with Session() as session:  # before anything hidden is read
            grade = _graded(order, session, folder, report)
    except SoftmarkError as error:
        (folder / REFUSED).write_text(str(error), encoding="utf-8")
        return AGAIN if isinstance(error, GraderError) else NO
    report.reached("ended")
    _put(folder / GRADE, msgspec.json.encode(grade))
    return DONE


def _graded(order: Order, session: Session, folder: Path, report: _Report) -> Grade:
    from autograder.intake.submission import Submission

    assignment = load_assignment(order.assignment)
    session.wait_ready()
    report.reached("fork server ready")
    session.prove(assignment, order.allow_missing)
    report.reached("sandbox proved")
    submission = Submission(
        name=order.name,
        path=Path(order.submission),
        submitters=order.submitters,
        created_at=order.created_at,
        due=order.due,
    )
    grades: list[Grade] = []
    with open(folder / PROGRESS, "ab") as progress:

        def work(grader: Grader) -> None:
            report.reached("checks collected")
            report.say("seeds", _seeds(assignment))
            _put(folder / PLAN, msgspec.json.encode(_plan(order, assignment, grader, session.layers())))
            grader.until, grader.keep = order.until, _kept(progress.fileno())
            grades.append(grader.grade(submission))
            report.reached("graded")

        session.with_grader(assignment, work, digest=order.digest)
    return grades[0]


def _plan(order: Order, assignment: Assignment, grader: Grader, sandbox: dict[str, str]) -> Grade:
    """The grade in which no check has run: what there is to be said where nothing follows."""
    checks = tuple(
        CheckResult(
            number=check.number,
            name=check.name,
            part=check.part,
            title=check.title,
            weight=check.weight,
            extra=check.extra,
            score=0.0,
            outcome="not_run",
            hidden=check.hidden,
            visibility=check.visibility,
            reason=Stopped(),
            explanation=Explanation(property=check.title, read=check.reading),
            tags=check.tags,
        )
        for check in grader.checks
    )
    return Grade(
        submission=order.name,
        assignment=assignment.name,
        status="incomplete",
        points=0.0,
        maximum=assignment.maximum,
        parts=tuple(
            PartPoints(part=part.name, number=part.number, points=0.0, maximum=part.points) for part in assignment.parts
        ),
        checks=checks,
        submitters=order.submitters,
        sandbox=sandbox,
    )


def _kept(descriptor: int) -> Callable[[CheckResult], None]:
    """Appends each result as one line, in one write: what is there is whole up to its last line."""

    def keep(result: CheckResult) -> None:
        with suppress(OSError):  # a disk that is full must not end the grading
            os.write(descriptor, msgspec.json.encode(result) + b"\n")

    return keep


def _seeds(assignment: Assignment) -> dict[str, str]:
    """What the draws of the checks depend on: the visible key as it stands, of the hidden one a fingerprint."""
    said = {"visible": assignment.key.decode("utf-8", "replace")[:200]}
    with suppress(SoftmarkError):
        said["hidden"] = hmac.new(assignment.hidden_key(), b"fingerprint", "sha256").hexdigest()[:8]
    return said


class _Report:
    """For staff: seconds from the start of this process to each step, and what else is said. On disk at once, so that
    an ended process has told how far it was."""

    def __init__(self, path: Path) -> None:
        self._path, self._start = path, time.monotonic()
        self._seconds: dict[str, float] = {}
        self._said: dict[str, object] = {"seconds until": self._seconds}

    def reached(self, step: str) -> None:
        self._seconds[step] = round(time.monotonic() - self._start, 2)
        self._write()

    def say(self, name: str, what: object) -> None:
        self._said[name] = what
        self._write()

    def _write(self) -> None:
        with suppress(OSError):
            _put(self._path, msgspec.json.encode(self._said))


def _put(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    os.replace(beside, path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
