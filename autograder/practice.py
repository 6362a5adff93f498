"""`softmark check`: a student's own code against the visible checks, on their own machine.

It finds the assignment that a folder belongs to, runs the checks in workers or in this process, and prints what a
student needs. It gives no grade, and hidden checks are never loaded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from autograder.assignment import Assignment, Part, load_assignment
from autograder.errors import SoftmarkError
from autograder.feedback.console import print_student_view
from autograder.grading import Grader
from autograder.plugin import Checks, Subject, with_checks
from autograder.reference import Reference
from autograder.results import Grade
from autograder.sandbox.in_process import InProcessWorker
from autograder.session import Session
from autograder.submission import Submission, read_submission
from autograder.workers import InThisProcess, Spawn, Workers


def practise(folder: Path, part: str | None, in_process: bool) -> int:
    """Run the visible checks on the code in `folder`, print the feedback, and return 1 where one failed."""
    assignment = assignment_of(folder)
    chosen = [_part(assignment, part).name] if part is not None else []
    grade = _in_this_process(assignment, folder, chosen) if in_process else _in_workers(assignment, folder, chosen)
    print_student_view(grade, Console())
    return 0 if all(check.outcome == "passed" for check in grade.checks) else 1


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
    raise SoftmarkError(f"{folder} belongs to no assignment: run this in a folder of starter_code/.")


def _part(assignment: Assignment, wanted: str) -> Part:
    for part in assignment.parts:
        if wanted in (part.name, str(part.number), part.file):
            return part
    return assignment.part(wanted)


def _in_workers(assignment: Assignment, folder: Path, chosen: Sequence[str]) -> Grade:
    """As graded: each check in a worker of its own, under the limits."""
    tree = read_submission(Submission(name=folder.resolve().name, path=folder), assignment)
    handed_in = [part.name for part in assignment.parts if part.file in tree.files]
    with Session() as session, tempfile.TemporaryDirectory(prefix="softmark-") as top:
        session.wait_ready()
        Path(top).chmod(0o711)
        tree.write(Path(top) / "submission")
        spawn = session.spawn_from(assignment)(Path(top) / "submission")
        return _tried(assignment, Workers(spawn, handed_in, assignment.limits, tree.files), chosen)


def _in_this_process(assignment: Assignment, folder: Path, chosen: Sequence[str]) -> Grade:
    """In the process of the person's own terminal, without limits, so that `breakpoint()` works."""
    modules = [part.name for part in assignment.parts if (folder / part.file).is_file()]
    return _tried(assignment, InThisProcess(InProcessWorker(folder, modules), folder), chosen)


def _tried(assignment: Assignment, subject: Subject, chosen: Sequence[str]) -> Grade:
    reference = Reference(assignment)
    checks = Checks(assignment, reference.modules, visible_only=True)
    grades: list[Grade] = []

    def work() -> None:
        in_place = InThisProcess(reference.worker, assignment.solutions)
        grader = Grader(assignment, checks, in_place, _nothing_to_spawn, practice=True)
        grades.append(grader.try_out(assignment.name, subject, chosen))

    with_checks(checks, work)
    return grades[0]


def _nothing_to_spawn(_: Path) -> Spawn:
    raise AssertionError("what is tried out has its workers already")
