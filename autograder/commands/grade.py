"""`softmark grade` and `softmark regrade`: grade a folder of submissions, print progress and the table.

`run.pool` spreads the submissions over graders; `report` says how grades look.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.console import Console

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.intake.finding import Found, find
from autograder.intake.roster import Person, read_roster
from autograder.intake.submission import Submission
from autograder.progress import Progress
from autograder.report.gradebook import matched
from autograder.report.table import TableRow, stood_out, table_row
from autograder.results import Grade
from autograder.run.books import note_event, write_books
from autograder.run.overrides import who_am_i
from autograder.run.session import Session
from autograder.run.written import FEEDBACK, RESULTS, RUN, Event, Run, as_told, latest_run, note_run, now
from autograder.sandbox.required import profile, refuse_elsewhere, refuse_unknown

if TYPE_CHECKING:
    from autograder.run.pool import Done, Job

_SLOW = 3.0
"""Times the median of all: what takes longer is slow."""


@dataclass(frozen=True)
class Options:
    """How to grade.

    Attributes:
        graders: so many side by side.
        only: checks, exercises or parts; the others do not run.
        again: what is graded and has not changed is graded, too.
        allow_missing: layers of the sandbox to do without.
        roster: a class list.
        students: only these submissions.
        chosen: only those whose record is so: "failed" a check, "incomplete" or none, "slow".
        splice: the checks of `only` take their place in whole grades.
        as_json: grades are printed as JSON.
        events: progress is told as JSON lines.
        why: what the history says.
    """

    graders: int = 1
    only: Sequence[str] = ()
    again: bool = False
    allow_missing: Sequence[str] = ()
    roster: Path | None = None
    students: Sequence[str] = ()
    chosen: Sequence[str] = ()
    splice: bool = False
    as_json: bool = False
    events: bool = False
    why: str = ""


def grade_folder(folder: Path, submissions: Path, out: Path, options: Options) -> int:
    """Grade everything in `submissions`, print the table, and return the exit code: 1 where something is no grade.

    Raises `SoftmarkError` before anything is graded where a layer of the sandbox is missing that `allow_missing` does
    not name.
    """
    refuse_unknown(options.allow_missing)
    refuse_elsewhere(profile())
    assignment = load_assignment(folder)
    for part in assignment.parts:
        assignment.reference(part)
    people = read_roster(options.roster) if options.roster is not None else ()
    _refuse_place(out, submissions, assignment)
    intake = find(submissions, assignment)
    found = _selected(intake.submissions, out, options)
    _make_folder(out, found)
    with Session() as session:  # its fork server warms up while this process imports what grading needs
        from autograder.run.pool import Job

        session.wait_ready()
        session.prove(assignment, options.allow_missing)
        _say_what_is_off(session.layers())
        _say_if_stale(assignment)
        _say_what_it_is(submissions, intake)
        if not options.only and intake.form != "one submission":
            note_run(out, _run_over(intake.submissions, submissions, out, assignment, people, options))
        job = Job(assignment, found, out, options.only, options.again, splice=options.splice)
        tally = _grade(job, session, options)
    writes = not options.only or options.splice
    if tally.ended is not None and not tally.count:
        raise tally.ended
    if writes:
        try:
            what = "regrade" if options.splice or options.why else "grade"
            said = f"{what}: {tally.count - tally.resumed} of {tally.count} submissions graded"
            note_event(out, Event(when=now(), who=who_am_i(), what=said, why=options.why))
            rows = write_books(out, assignment.name, assignment.maximum)
            _say_whose_time_nobody_took(assignment, rows)
            _say_who_is_not_there(out, rows)
        except SoftmarkError:
            if tally.ended is None:
                raise
    _print_grades(tally, assignment, out, options.as_json, whole=writes)
    if tally.ended is not None:
        raise tally.ended
    return 0 if tally.whole or (options.only and not options.splice) else 1


def regrade(out: Path, checks: Sequence[str], options: Options) -> int:
    """Grade again what the latest run over a folder went over; of `checks` alone, into the grades that are there.

    Raises:
        SoftmarkError: no run is noted in `out`, or what it names has gone.
    """
    run = latest_run(out)
    if run is None or not run.folder:
        raise SoftmarkError(f"{out / RUN} names no run over a folder of hand-ins: use `softmark grade` with -o {out}.")
    for path in (run.folder, run.hand_ins):
        if not Path(path).exists():
            raise SoftmarkError(f"{path} is not there any more, from where {out} was graded: use `softmark grade`.")
    options = replace(
        options,
        again=True,
        only=checks,
        splice=bool(checks),
        allow_missing=options.allow_missing or run.allow_missing,
        why=options.why or "asked for",
    )
    return grade_folder(Path(run.folder), Path(run.hand_ins), out, options)


def _run_over(
    found: Sequence[Submission],
    path: Path,
    out: Path,
    assignment: Assignment,
    people: tuple[Person, ...],
    options: Options,
) -> Run:
    before = latest_run(out, assignment.name)
    return Run(
        assignment=assignment.name,
        names=tuple(each.name for each in found),
        folder=str(assignment.folder.resolve()),
        hand_ins=_writable(path.resolve()),
        digest=record.assignment_digest(assignment),
        paths={
            each.name: _writable(each.path) for each in found if path.is_dir()
        },  # a packed download has none that last
        allow_missing=tuple(options.allow_missing),
        people=people or (before.people if before is not None else ()),
    )


def _writable(path: Path) -> str:
    """A path as JSON can hold it: bytes that are no UTF-8, as old zips leave them in names, become `\\xff`."""
    return str(path).encode("utf-8", "backslashreplace").decode()


# ------------------------------------------------------------------ whom


def _selected(found: Sequence[Submission], out: Path, options: Options) -> list[Submission]:
    """Those that the options choose. Raises `SoftmarkError` for who is not there, and where nobody is left."""
    chosen = list(found)
    if options.students:
        names = {each.name for each in found}
        unknown = [name for name in options.students if name not in names]
        if unknown:
            few = ", ".join(sorted(names)[:8])
            raise SoftmarkError(
                f"There is no submission '{unknown[0]}' (there are: {few}{', ...' * (len(names) > 8)})."
            )
        chosen = [each for each in chosen if each.name in options.students]
    if options.chosen:
        so = _standing(out, [each.name for each in found])
        chosen = [each for each in chosen if not so[each.name].isdisjoint(options.chosen)]
        if not chosen:
            raise SoftmarkError(f"No grade in {out} is {' or '.join(options.chosen)}: there is nothing to grade.")
    return chosen


def _standing(out: Path, names: Sequence[str]) -> dict[str, set[str]]:
    """How each record stands: "failed", "incomplete", "slow"."""
    so: dict[str, set[str]] = {}
    seconds: dict[str, float] = {}
    for name in names:
        grade = record.read(out, name)
        so[name] = {"incomplete"} if grade is None or grade.status != "graded" else set()
        if grade is not None:
            seconds[name] = grade.wall_seconds
            if any(check.score < check.counted for check in grade.checks):
                so[name].add("failed")
            if any(check.outcome == "timed_out" for check in grade.checks):
                so[name].add("slow")
    median = statistics.median(seconds.values()) if seconds else 0.0
    for name, each in seconds.items():
        if each > _SLOW * median:
            so[name].add("slow")
    return so


# ------------------------------------------------------------------ grading, and what is told meanwhile


@dataclass
class _Tally:
    """What a run gave: rows of the table by place, and grades where all of them are printed."""

    rows: dict[int, TableRow]
    grades: dict[int, Grade]
    resumed: int = 0
    whole: bool = True
    ended: BaseException | None = None

    @property
    def count(self) -> int:
        return len(self.rows)


def _grade(job: Job, session: Session, options: Options) -> _Tally:
    """What was graded, and what ended the run before all was: an interruption, or a sentence for whoever called."""
    from autograder.run.pool import grade_all

    progress, tally = Progress(len(job.submissions)), _Tally({}, {})
    at_work: set[str] = set()

    def watch(names: Sequence[tuple[str, float]]) -> None:
        if not options.events:
            progress.at_work(names)
            return
        for name, _ in names:
            if name not in at_work:
                at_work.add(name)
                _event("started", submission=name)

    job.watch = watch
    try:
        for done in grade_all(job, session, options.graders):
            grade = as_told(job.out, done.grade)
            tally.rows[done.index] = table_row(grade)
            if options.as_json:
                tally.grades[done.index] = grade
            tally.resumed += done.resumed
            tally.whole &= grade.status == "graded"
            _tell(done, grade, progress, events=options.events)
    except (KeyboardInterrupt, SoftmarkError) as why:
        tally.ended = why
    finally:
        progress.end()
    if options.events:
        _event("ended", graded=tally.count - tally.resumed, resumed=tally.resumed, interrupted=tally.ended is not None)
    elif tally.resumed:
        print(f"{tally.resumed} of {tally.count} had not changed and were not graded again.", file=sys.stderr)
    return tally


def _tell(done: Done, grade: Grade, progress: Progress, *, events: bool) -> None:
    odd = stood_out(grade)
    if events:
        facts: dict[str, Any] = {"status": grade.status, "points": grade.points, "seconds": grade.wall_seconds}
        _event("graded", submission=grade.submission, **facts, resumed=done.resumed, stood_out=odd)
        return
    if odd and not done.resumed:
        progress.say(f"{grade.submission}: {odd}")
    progress.step(for_nothing=done.resumed)


def _event(what: str, **facts: object) -> None:
    line = msgspec.json.encode({"event": what, "time": round(time.time(), 3), **facts})
    print(line.decode(), file=sys.stderr, flush=True)


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


def _say_whose_time_nobody_took(assignment: Assignment, rows: Sequence[Any]) -> None:
    """A mistyped address in the file of extra time would cost its owner points, and nobody would see why."""
    from autograder.assignment.late import ACCOMMODATIONS, not_here, policy_of

    names = not_here(policy_of(assignment), [each for row in rows for each in row.submitters])
    if names:
        print(
            f"softmark: {assignment.hidden / ACCOMMODATIONS} gives extra time to {', '.join(names)}, but "
            "there is no submission from them. Check the spelling against the export.",
            file=sys.stderr,
        )


def _say_who_is_not_there(out: Path, rows: Sequence[Any]) -> None:
    """With a roster: who has handed in nothing, and which hand-ins are nobody's in it."""
    run = latest_run(out)
    if run is None or not run.people:
        return
    found = matched(rows, run.people)
    missing = [person.name or person.sid or person.email for n, person in enumerate(run.people) if n not in found.of]
    if missing:
        print(f"softmark: nothing handed in: {', '.join(missing)}.", file=sys.stderr)
    if found.unmatched:
        print(f"softmark: not in the roster: {', '.join(found.unmatched)}.", file=sys.stderr)


def _say_if_stale(assignment: Assignment) -> None:
    from autograder.grading.known_mistakes import bank_file, is_stale

    if is_stale(assignment):
        print(
            f"softmark: {bank_file(assignment)} is older than the checks or solutions, so that no known mistake is "
            f"named: softmark validate {assignment.folder} makes a new one.",
            file=sys.stderr,
        )


def _print_grades(tally: _Tally, assignment: Assignment, out: Path, as_json: bool, *, whole: bool = True) -> None:
    if as_json:
        sys.stdout.write(msgspec.json.encode([tally.grades[at] for at in sorted(tally.grades)]).decode() + "\n")
        return
    from autograder.report.table import print_table

    print_table([tally.rows[at] for at in sorted(tally.rows)], Console())
    what = f"{tally.count} submission{'s' * (tally.count != 1)} of {assignment.name}"
    print(f"\n{what}; grades in {out}" + (f", all of them in {out / 'grades.csv'}" if whole else ""))


# ------------------------------------------------------------------ where grades go


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
        books = [out / name for name in ("grades.csv", "people.csv", "gradebook.sqlite", "history.jsonl", RUN)]
        files = [*books, *(home / name for home in homes for name in ("grade.json", RESULTS, FEEDBACK))]
        for path, is_taken, what in (
            *((home, home.exists() and not home.is_dir(), "file, where a folder") for home in homes),
            *((file, file.is_dir(), "folder, where a file") for file in files),
        ):
            if is_taken:
                raise SoftmarkError(f"{path} is a {what} is to be: move it away, or give another -o.")
    except OSError as error:
        raise SoftmarkError(f"{out} cannot be made a folder for grades ({error.strerror}): give another -o.") from None
