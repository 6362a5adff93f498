"""`softmark check`: a student's own code against the visible checks, on their own machine.

It finds the assignment that a folder belongs to, runs the checks in workers or in this process, and prints what a
student needs. It gives no grade, and hidden checks are never loaded.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.assignment.assignment import Assignment, Part, load_assignment
from autograder.errors import SoftmarkError
from autograder.grading.checks import Check
from autograder.grading.grader import Grader
from autograder.grading.line import Transport
from autograder.grading.plugin import Checks, Subject
from autograder.grading.pytest_session import with_checks
from autograder.grading.reference import Reference
from autograder.grading.workers import InThisProcess, Spawn, Workers
from autograder.intake.submission import Submission, read_submission
from autograder.report.console import print_student_view
from autograder.report.table import points_text
from autograder.results import Grade
from autograder.run.session import Session
from autograder.sandbox.in_process import InProcessWorker
from autograder.sandbox.temporary import TemporaryFolder
from autograder.text import one_line
from autograder.worker.protocol.messages import Raised, Reply

_INTERRUPTED = 130
_ENDS = frozenset({"BdbQuit", "KeyboardInterrupt"})
"""What `q` at a debugger's prompt and Ctrl-C raise inside student code that runs in this process."""


def practise(folder: Path, part: str | None, in_process: bool) -> int:
    """Run the visible checks on the code in `folder`, print the feedback, and return 1 where one with points failed."""
    assignment = assignment_of(folder)
    chosen = [_part(assignment, part).name] if part is not None else []
    _say_what_is_missing(assignment, chosen)
    try:
        grade = _in_this_process(assignment, folder, chosen) if in_process else _in_workers(assignment, folder, chosen)
    except KeyboardInterrupt:
        print("softmark: stopped, nothing more is checked.", file=sys.stderr)
        return _INTERRUPTED
    print_student_view(grade, Console())
    print(standing(assignment, grade, chosen))
    return 0 if all(check.outcome == "passed" or not check.weight for check in grade.checks) else 1


def _say_what_is_missing(assignment: Assignment, chosen: Sequence[str]) -> None:
    """Where the solutions are not, as on a student's machine, a check that compares with them breaks; say why first."""
    parts = [part for part in assignment.parts if not chosen or part.name in chosen]
    missing = [part.file for part in parts if not (assignment.solutions / part.file).is_file()]
    if missing:
        print(
            f"softmark: the reference solution of {', '.join(missing)} is not here, so that checks which compare with "
            "it cannot run on this machine; they run where the assignment is graded.",
            file=sys.stderr,
        )


def standing(assignment: Assignment, grade: Grade, chosen: Sequence[str] = ()) -> str:
    """How many points stand behind the checks that ran, and how many more behind hidden ones."""
    seen = {part.part: part.maximum for part in grade.parts}
    hidden = [
        (part.points - seen.get(part.name, 0.0), part.name)
        for part in assignment.parts
        if not chosen or part.name in chosen
    ]
    hidden = [(points, name) for points, name in hidden if points > 1e-6]
    line = f"visible checks: {points_text(grade.points)} of {points_text(grade.maximum)} points"
    if not hidden:
        return line
    (first, name), *others = hidden
    rest = "".join(f", {points_text(points)} of {other}" for points, other in others)
    are = "is" if math.fsum(points for points, _ in hidden) == 1 else "are"
    noun = "point" if first == 1 else "points"
    return f"{line}; {points_text(first)} more {noun} of {name}{rest} {are} in hidden checks"


def assignment_of(folder: Path) -> Assignment:
    """The assignment that a folder of student code belongs to: by its name, else by the files in it."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise SoftmarkError(f"{folder} is no folder: give the folder of your starter code.")
    for above in folder.parents:
        manifests = sorted((above / "assignments").glob("*/assignment.toml"))
        if not manifests:
            continue
        assignments = [load_assignment(path.parent) for path in manifests]
        named = [each for each in assignments if each.name == folder.name]
        fitting = [each for each in assignments if any((folder / part.file).is_file() for part in each.parts)]
        if named or len(fitting) == 1:
            return (named or fitting)[0]
    raise SoftmarkError(f"{folder} belongs to no assignment: run this in {_starter_folders(folder)}.")


def _starter_folders(folder: Path) -> str:
    """The folders of the nearest starter_code/, as a person would go there; else of the one beside this program."""
    for above in (folder, *folder.parents, Path(__file__).resolve().parents[2]):
        names = sorted(path.name for path in above.glob("starter_code/*/") if path.is_dir())
        if names:
            return f"a folder of {above / 'starter_code'} ({', '.join(names)})"
    return "a folder of starter_code/"


def _part(assignment: Assignment, wanted: str) -> Part:
    for part in assignment.parts:
        if wanted in (part.name, str(part.number), part.file):
            return part
    return assignment.part(wanted)


def _in_workers(assignment: Assignment, folder: Path, chosen: Sequence[str]) -> Grade:
    """As graded: each check in a worker of its own, under the limits."""
    tree = read_submission(Submission(name=folder.resolve().name, path=folder), assignment)
    handed_in = [part.name for part in assignment.parts if part.file in tree.files]
    with Session() as session, TemporaryFolder() as top:
        session.wait_ready()
        top.chmod(0o711)
        tree.write(top / "submission")
        spawn = session.spawn_from(assignment)(top / "submission")
        workers = Workers(spawn, handed_in, assignment.limits, tree.files)
        try:
            return _tried(assignment, workers, chosen)
        finally:
            workers.finish()


def _in_this_process(assignment: Assignment, folder: Path, chosen: Sequence[str]) -> Grade:
    """In the process of the person's own terminal, without limits, so that `breakpoint()` works."""
    modules = [part.name for part in assignment.parts if (folder / part.file).is_file()]
    return _tried(assignment, _Announced(_Interruptible(InProcessWorker(folder, modules)), folder), chosen)


class _Announced(InThisProcess):
    """Says which check it is before a check's first call, so that a debugger's prompt has a place."""

    _said = ""

    def open(self, check: Check, seconds: float) -> Transport:
        if check.number != self._said:
            self._said = check.number
            print(one_line(f"{check.number} {check.title}"), file=sys.stderr, flush=True)
        return super().open(check, seconds)


class _Interruptible:
    """Ends the run where the person at the terminal wants to, instead of blaming the student's code for it."""

    def __init__(self, worker: InProcessWorker) -> None:
        self._worker = worker

    def request(self, message: Any) -> Reply:
        return _unless_ended(self._worker.request(message))

    def weigh(self, message: Any) -> Any:
        reply, account = self._worker.weigh(message)
        return _unless_ended(reply), account


def _unless_ended(reply: Reply) -> Reply:
    if isinstance(reply, Raised) and reply.kinds and reply.kinds[0] in _ENDS:
        raise KeyboardInterrupt
    return reply


def _tried(assignment: Assignment, subject: Subject, chosen: Sequence[str]) -> Grade:
    reference = Reference(assignment)
    checks = Checks(assignment, reference, visible_only=True)
    grades: list[Grade] = []

    def work() -> None:
        in_place = InThisProcess(reference.worker, assignment.solutions)
        grader = Grader(assignment, checks, in_place, _nothing_to_spawn, practice=True)
        grades.append(grader.try_out(assignment.name, subject, chosen))

    with_checks(checks, work)
    return grades[0]


def _nothing_to_spawn(_: Path) -> Spawn:
    raise AssertionError("what is tried out has its workers already")
