"""Runs a tiny assignment's checks against source code in this process: no worker, the same plugin and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.grading.grader import Grader
from autograder.grading.in_place import InThisProcess
from autograder.grading.plugin import Checks, Subject
from autograder.grading.pytest_session import with_checks
from autograder.grading.reference import Reference
from autograder.results import CheckResult, Grade
from autograder.sandbox.in_process import InProcessWorker


def grade_here(assignment: Assignment, source: str, folder: Path, *, subject: Subject | None = None) -> Grade:
    """What all checks say of `source` as the tiny assignment's part."""
    grades: list[Grade] = []
    with in_process(source, folder) as here:

        def work(grader: Grader) -> None:
            grades.append(grader.try_out("student_03", subject or here))

        with_grader(assignment, work)
    return grades[0]


def results_here(assignment: Assignment, source: str, folder: Path) -> dict[str, CheckResult]:
    """The results by number."""
    return {check.number: check for check in grade_here(assignment, source, folder).checks}


def with_grader(assignment: Assignment, work, **settings) -> None:
    """A grader whose reference runs in this process, inside a pytest session of its own."""
    reference = Reference(assignment)
    checks = Checks(assignment, reference)

    def inside() -> None:
        work(Grader(assignment, checks, InThisProcess(reference.worker), lambda _folder: None, **settings))

    with_checks(checks, inside)


@contextmanager
def in_process(source: str, folder: Path) -> Iterator[InThisProcess]:
    """A subject that runs `source` in this process."""
    home = folder / "handed_in"
    home.mkdir(exist_ok=True)
    (home / "numbers_part.py").write_text(source)
    yield InThisProcess(InProcessWorker(home, ["numbers_part"]))
