"""`softmark grade`: grade a folder of submissions, print progress and the table.

`run.pool` spreads the submissions over graders; `report` says how grades look.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.intake.finding import Found, find
from autograder.intake.submission import Submission
from autograder.progress import Progress
from autograder.report.gradebook import write_gradebook
from autograder.results import Grade
from autograder.run.session import Session
from autograder.run.written import RESULTS, RUN, Run, latest_run, note_run, recorded
from autograder.sandbox.required import profile, refuse_elsewhere, refuse_unknown

if TYPE_CHECKING:
    from autograder.run.pool import Job


def grade_folder(
    folder: Path,
    submissions: Path,
    out: Path,
    graders: int,
    only: Sequence[str],
    again: bool,
    as_json: bool,
    allow_missing: Sequence[str] = (),
) -> int:
    """Grade everything in `submissions`, print the table, and return the exit code: 1 where something is no grade.

    Raises `SoftmarkError` before anything is graded where a layer of the sandbox is missing that `allow_missing` does
    not name.
    """
    refuse_unknown(allow_missing)
    refuse_elsewhere(profile())
    assignment = load_assignment(folder)
    for part in assignment.parts:
        assignment.reference(part)
    _refuse_place(out, submissions, assignment)
    intake = find(submissions, assignment)
    found = intake.submissions
    _make_folder(out, found)
    with Session() as session:  # its fork server warms up while this process imports what grading needs
        from autograder.run.pool import Job

        session.wait_ready()
        session.prove(assignment, allow_missing)
        _say_what_is_off(session.layers())
        _say_if_stale(assignment)
        _say_what_it_is(submissions, intake)
        if not only and [each.path for each in found] != [submissions.resolve()]:  # no single one that was named
            note_run(out, Run(assignment=assignment.name, names=tuple(each.name for each in found)))
        grades, ended = _grade(Job(assignment, found, out, only, again), session, graders)
    if ended is not None and not grades:
        raise ended
    if not only:
        try:
            _write_gradebook(assignment, out)
        except SoftmarkError:
            if ended is None:
                raise
    _print_grades(grades, assignment, out, as_json, whole=not only)
    if ended is not None:
        raise ended
    return 0 if all(grade.status == "graded" or only for grade in grades) else 1


def _grade(job: Job, session: Session, graders: int) -> tuple[list[Grade], BaseException | None]:
    """What was graded, and what ended the run before all was: an interruption, or a sentence for whoever called."""
    from autograder.run.pool import grade_all

    progress, grades = Progress(len(job.submissions)), dict[int, Grade]()
    resumed, ended = 0, None
    try:
        for done in grade_all(job, session, graders):
            grades[done.index] = done.grade
            resumed += done.resumed
            progress.step(for_nothing=done.resumed)
    except (KeyboardInterrupt, SoftmarkError) as why:
        ended = why
    finally:
        progress.end()
    if resumed:
        print(f"{resumed} of {len(grades)} had not changed and were not graded again.", file=sys.stderr)
    return [grades[index] for index in sorted(grades)], ended


def _write_gradebook(assignment: Assignment, out: Path) -> None:
    """grades.csv, of every record of this assignment that lies in `out`."""
    records, run = recorded(out, assignment), latest_run(out, assignment.name)
    write_gradebook(records, out / "grades.csv", run.names if run is not None else None)
    _say_whose_time_nobody_took(assignment, records)


def _say_what_is_off(layers: Mapping[str, str]) -> None:
    """Of the layers that a machine is expected to have; `softmark doctor` tells of the others, too."""
    from autograder.sandbox.required import NOT_EVERYWHERE

    for layer, state in layers.items():
        if state.startswith("off") and layer not in NOT_EVERYWHERE:
            print(f"softmark: the layer {layer} of the sandbox is {state}.", file=sys.stderr)


def _say_what_it_is(path: Path, intake: Found) -> None:
    """What a platform's download was taken for, and of which hand-ins in it nobody can tell whose they are."""
    if intake.form not in ("one submission", "a folder of submissions"):
        print(f"softmark: {path} is taken for {intake.form}: {len(intake.submissions)} submissions.", file=sys.stderr)
    if intake.unmatched:
        print(f"softmark: nobody knows whose these are: {', '.join(intake.unmatched)}.", file=sys.stderr)


def _say_whose_time_nobody_took(assignment: Assignment, grades: Sequence[Grade]) -> None:
    """A mistyped address in the file of extra time would cost its owner points, and nobody would see why."""
    from autograder.assignment.late import ACCOMMODATIONS, not_here, policy_of

    names = not_here(policy_of(assignment), grades)
    if names:
        print(
            f"softmark: {assignment.hidden / ACCOMMODATIONS} gives extra time to {', '.join(names)}, but "
            "there is no submission from them. Check the spelling against the export.",
            file=sys.stderr,
        )


def _say_if_stale(assignment: Assignment) -> None:
    from autograder.grading.known_mistakes import bank_file, is_stale

    if is_stale(assignment):
        print(
            f"softmark: {bank_file(assignment)} is older than the checks or solutions, so that no known mistake is "
            f"named: softmark validate {assignment.folder} makes a new one.",
            file=sys.stderr,
        )


def _print_grades(
    grades: Sequence[Grade], assignment: Assignment, out: Path, as_json: bool, *, whole: bool = True
) -> None:
    if as_json:
        sys.stdout.write(msgspec.json.encode(list(grades)).decode() + "\n")
        return
    from autograder.report.table import print_table

    print_table(grades, Console())
    what = f"{len(grades)} submission{'s' * (len(grades) != 1)} of {assignment.name}"
    print(f"\n{what}; grades in {out}" + (f", all of them in {out / 'grades.csv'}" if whole else ""))


def _refuse_place(out: Path, submissions: Path, assignment: Assignment) -> None:
    """Grades lie apart from hand-ins, and those of one assignment apart from those of another."""
    if out.resolve().is_relative_to(submissions.resolve()) and submissions.is_dir():
        raise SoftmarkError(f"{out} lies in {submissions}, and would be graded the next time: give another -o.")
    records = (record.read(out, path.parent.name) for path in sorted(out.glob("*/grade.json")))
    grade = next((one for one in records if one is not None), None)
    if grade is not None and grade.assignment != assignment.name:
        raise SoftmarkError(f"{out} holds grades of {grade.assignment}: give {assignment.name} another -o.")


def _make_folder(out: Path, found: Sequence[Submission]) -> None:
    """The folder for grades, in which nothing else stands where a file or folder of a grade is to be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
        homes = [record.folder_of(out, each.name) for each in found]
        files = [out / "grades.csv", out / RUN, *(home / name for home in homes for name in ("grade.json", RESULTS))]
        for path, is_taken, what in (
            *((home, home.exists() and not home.is_dir(), "file, where a folder") for home in homes),
            *((file, file.is_dir(), "folder, where a file") for file in files),
        ):
            if is_taken:
                raise SoftmarkError(f"{path} is a {what} is to be: move it away, or give another -o.")
    except OSError as error:
        raise SoftmarkError(f"{out} cannot be made a folder for grades ({error.strerror}): give another -o.") from None
