"""`softmark check`: a student's own code against the visible checks, on their own machine.

Each result is printed when it is there: first of the checks that failed the last time or whose file has changed. It
gives no grade, and hidden checks are never loaded.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.grading.checks import Check
from autograder.grading.grader import Grader
from autograder.grading.in_place import InOneProcess, InThisProcess
from autograder.grading.line import Transport
from autograder.grading.plugin import CheckRun, Checks, Subject
from autograder.grading.pytest_session import with_checks
from autograder.grading.record import write_atomically
from autograder.grading.verdict import error_of
from autograder.report.feedback import feedback_page
from autograder.report.heat_maps import heat_maps
from autograder.report.live import Live
from autograder.report.table import points_text
from autograder.results import CheckResult, Grade
from autograder.run.home import Home, Memory, home_of
from autograder.sandbox.in_process import InProcessWorker
from autograder.sandbox.required import profile
from autograder.text import one_line
from autograder.worker.protocol.messages import Raised, Reply

_INTERRUPTED = 130
_LOOK_SECONDS = 0.3
_ENDS = frozenset({"BdbQuit", "KeyboardInterrupt"})
"""What `q` at a debugger's prompt and Ctrl-C raise inside student code that runs in this process."""


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line."""

    part: str | None = None
    only: Sequence[str] = ()
    failed: bool = False
    watch: bool = False
    in_process: bool = False
    output: bool = False
    page: Path | None = None


class Finishing(Protocol):
    """A subject that has to be told when no check follows."""

    def finish(self) -> None: ...


def check_command(folder: Path, wish: Wish) -> int:
    """Run the visible checks on the code in `folder`, and return 1 where one with points failed."""
    try:
        grade = check_home(home_of(folder), wish).grade
    except KeyboardInterrupt:
        print("softmark: stopped, nothing more is checked.", file=sys.stderr)
        return _INTERRUPTED
    return 0 if all(check.outcome == "passed" or not check.counted for check in grade.checks) else 1


@dataclass(frozen=True)
class Found:
    """What a run found: `standing` says what its points leave out; `pictures` are SVGs, by the number of a check."""

    grade: Grade
    standing: str
    pictures: dict[str, str]


def check_home(home: Home, wish: Wish) -> Found:
    """Run the visible checks, print what they find, and return it."""
    found: list[Found] = []

    def work(checks: Checks, subject: Callable[[], Any]) -> None:
        grader = Grader(home.assignment, checks, None, _nothing_to_spawn, practice=True, bank=home.bank)
        with grader.settled():
            before = Memory.of(home.folder)
            found.append(_once(home, grader, subject, wish, before))
            while wish.watch:
                before = Memory.of(home.folder)
                _wait_for_a_change(home, before)
                found[-1] = _once(home, grader, subject, wish, before)

    with_subject(home, wish.in_process, work)
    return found[-1]


def with_subject(home: Home, in_process: bool, work: Callable[[Checks, Callable[[], Any]], None]) -> None:
    """Do `work` with the visible checks, and with what gives the subject for each run."""
    with _subjects(home, in_process) as subject:
        checks = Checks(home.assignment, home.oracle, visible_only=True)
        with_checks(checks, lambda: work(checks, subject))


def _once(home: Home, grader: Grader, subject: Callable[[], Any], wish: Wish, before: Memory) -> Found:
    """One run: results as they come, the sums, and what is hidden."""
    files = home.files()
    chosen = _chosen(home.assignment, grader.checks, wish, before)
    changed = {name.removesuffix(".py") for name, digest in files.items() if before.files.get(name) != digest}
    grader.first = {
        check.number
        for check in grader.checks
        if before.outcomes.get(check.number) not in (None, "passed") or (before.files and check.part in changed)
    }
    live = Live(Console(), output=wish.output)
    outcomes = dict(before.outcomes)

    def keep(result: CheckResult) -> None:
        live.see(result)
        outcomes[result.number] = result.outcome

    pictures: dict[str, str] = {}

    def look(run: CheckRun) -> None:
        failing = next((item for item in run.items if error_of(item) is not None and item.comparisons), None)
        if failing is not None:
            last = failing.comparisons[-1]
            pictures[run.check.number] = heat_maps(last.got, last.expected)

    grader.keep, grader.look = keep, look
    current = subject()
    try:
        grade = grader.try_out(home.assignment.name, current, chosen)
    finally:
        if hasattr(current, "finish"):
            current.finish()
        Memory(outcomes, files).save(home.folder)
    live.sums()
    said = standing(home.assignment, grader.checks, grade)
    print(said, flush=True)
    if wish.page is not None:
        write_atomically(wish.page, feedback_page(grade, said, pictures=pictures).encode())
        print(f"{wish.page} written: open it in a browser.", flush=True)
    return Found(grade, said, pictures)


def _chosen(assignment: Assignment, checks: Sequence[Check], wish: Wish, before: Memory) -> Sequence[str]:
    """The checks (or parts) that were asked for; all where none were."""
    if wish.failed:
        failed = [c.number for c in checks if c.counted and before.outcomes.get(c.number) not in (None, "passed")]
        if not failed:
            raise SoftmarkError("No check failed the last time: run softmark check without --failed.", exit_code=0)
        return failed
    chosen = list(wish.only)
    if wish.part is not None:
        named = [p.name for p in assignment.parts if wish.part in (p.name, str(p.number), p.file)]
        chosen += named or [assignment.part(wish.part).name]
    return chosen


def _wait_for_a_change(home: Home, before: Memory) -> None:
    print("\nWaiting for a file to be saved (Ctrl-C ends) ...", file=sys.stderr, flush=True)
    while home.files() == before.files:
        time.sleep(_LOOK_SECONDS)


def standing(assignment: Assignment, checks: Sequence[Check], grade: Grade) -> str:
    """The points of the checks that ran, of those that did not, and of hidden ones, in the parts that were tried."""
    parts = {part.part for part in grade.parts}
    visible = math.fsum(check.counted for check in checks if check.part in parts)
    hidden = math.fsum(part.points for part in assignment.parts if part.name in parts) - visible
    earned = math.fsum(part.points for part in grade.parts)
    line = f"visible checks: {points_text(earned)} of {points_text(grade.maximum)} points"
    if grade.extra_credit:
        line += f", and {points_text(grade.extra_credit)} of extra credit"
    if visible - grade.maximum > 1e-6:
        line += f" (those of {points_text(visible - grade.maximum)} points more did not run)"
    return f"{line}; hidden checks: {points_text(hidden)} points" if hidden > 1e-6 else line


# ------------------------------------------------------------------ where the code runs


@contextmanager
def _subjects(home: Home, in_process: bool) -> Generator[Callable[[], Subject]]:
    """What gives the subject of each run: in workers on Linux, in one process elsewhere, or in this one."""
    if in_process:
        yield lambda: _Announced(_Interruptible(InProcessWorker(home.folder, _handed_in(home))), home.folder)
    elif profile() == "elsewhere":
        with _subjects_elsewhere(home) as subject:
            yield subject
    else:
        with ExitStack() as stack:
            try:
                subject = stack.enter_context(_in_workers(home))
            except (
                SoftmarkError
            ) as closed:  # such as a Python below /root; nothing is graded here, so one process will do
                print(f"softmark: {closed} Until then your code is checked without limits.", file=sys.stderr)
                subject = stack.enter_context(_subjects_elsewhere(home))
            yield subject


@contextmanager
def _subjects_elsewhere(home: Home) -> Generator[Callable[[], Subject]]:
    """In one process, without limits."""
    yield lambda: InOneProcess(home.folder, _handed_in(home))


def _handed_in(home: Home) -> list[str]:
    return [part.name for part in home.assignment.parts if (home.folder / part.file).is_file()]


@contextmanager
def _in_workers(home: Home) -> Generator[Callable[[], Subject]]:
    """As graded: each check in a worker of its own, under the limits."""
    from autograder.grading.workers import Workers
    from autograder.intake.submission import Submission, read_submission
    from autograder.run.session import Session
    from autograder.sandbox.temporary import TemporaryFolder

    with Session() as session, TemporaryFolder() as top:
        top.chmod(0o711)
        session.wait_ready()
        runs = iter(range(1 << 30))

        def subject() -> Workers:
            tree = read_submission(Submission(name=home.folder.name, path=home.folder), home.assignment)
            for note in tree.notes:
                if "was not handed in" not in note:  # not written yet
                    print(f"note: {one_line(note, 500)}", file=sys.stderr)
            folder = top / f"submission_{next(runs)}"
            tree.write(folder)
            handed_in = [part.name for part in home.assignment.parts if part.file in tree.files]
            spawn = session.spawn_from(home.assignment)(folder)
            return Workers(spawn, handed_in, home.assignment.limits, tree.files, most_timeouts=1)

        yield subject


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

    def request(self, message: Any, answer: Any = None) -> Reply:
        return _unless_ended(self._worker.request(message, answer))

    def weigh(self, message: Any) -> Any:
        reply, account = self._worker.weigh(message)
        return _unless_ended(reply), account


def _unless_ended(reply: Reply) -> Reply:
    if isinstance(reply, Raised) and reply.kinds and reply.kinds[0] in _ENDS:
        raise KeyboardInterrupt
    return reply


def _nothing_to_spawn(_: Path) -> Any:
    raise AssertionError("what is tried out has its workers already")
