"""The main job: a submission becomes a grade. It reads from top to bottom like a recipe.

`workers` says where student code runs, `verdict` what a failure means, `record` what is written to disk.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.assignment.late import applied, policy_of, total_of
from autograder.diagnosis.diagnosis import Diagnosis, with_causes
from autograder.diagnosis.mistake_bank import AT_HOME, Bank
from autograder.diagnosis.traces import CheckTrace
from autograder.errors import GraderError, SoftmarkError
from autograder.grading import record
from autograder.grading.checks import Check, refuse_wrong_points
from autograder.grading.known_mistakes import trace_of
from autograder.grading.plugin import CheckRun, Checks, Subject
from autograder.grading.verdict import examine, result, with_cells
from autograder.grading.workers import Spawn, Workers
from autograder.intake.submission import SourceTree, Submission, Unreadable, read_submission
from autograder.results import CheckResult, Grade, Key, LeaderboardEntry, PartPoints, Raised
from autograder.sandbox.temporary import TemporaryFolder
from autograder.worker.protocol.bans import LEFT_OUT

_CUT_SHORT = "the time on this machine was up, and much of it had gone by in waiting for a processor"
SpawnFrom = Callable[[Path], Spawn]
"""Given the folder of a source tree, what starts a worker on it."""


class Grader:
    """Grades submissions of one assignment, one after the other. Use it inside `pytest_session.with_checks`."""

    def __init__(
        self,
        assignment: Assignment,
        checks: Checks,
        reference: Subject | None,
        spawn_from: SpawnFrom,
        *,
        assignment_digest: str = "",
        sandbox: dict[str, str] | None = None,
        practice: bool = False,
        settle: Callable[[], None] = lambda: None,
        bank: Bank | None = None,
    ) -> None:
        if not practice:
            refuse_wrong_points(checks.checks, assignment)
        self._assignment = assignment
        self._checks = checks
        self._reference = reference
        self._spawn_from = spawn_from
        self._assignment_digest = assignment_digest
        self._late = None if practice else policy_of(assignment)
        self._sandbox = dict(sandbox or {})
        self._bank = bank or Bank()
        self.keep_traces = False
        self.until_one_fails = False
        self.first: Collection[str] = ()  # numbers of checks that run before others
        self.at_home: Literal["where it fails", "with traces", "always"] = "where it fails"  # visible checks run again
        self.until = math.inf  # of the monotonic clock: nothing of a student's runs after it, however busy the machine
        self.keep: Callable[[CheckResult], None] = lambda _result: None  # told each result when it is there
        self.look: Callable[[CheckRun], None] = lambda _run: None  # shown each run before what was returned is dropped
        self.traces: tuple[CheckTrace, ...] = ()
        self._settle = settle

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, in the order of their numbers."""
        return self._checks.checks

    @contextmanager
    def settled(self) -> Generator[None]:
        """What is there now stays meanwhile: a collection after each check need not go through the bank of mistakes."""
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            gc.unfreeze()

    def grade(
        self,
        submission: Submission,
        recorded: Grade | None = None,
        only: Sequence[str] = (),
        begin: Callable[[], None] = lambda: None,
    ) -> Grade:
        """The grade of what was handed in; `recorded` itself if nothing that it depends on has changed.

        Args:
            submission: what was handed in, by whom and when. Lateness is counted anew in either case, since who handed
                in and when is not part of a record's key.
            recorded: an earlier grade of it.
            only: numbers or names of checks, exercises or parts. Other checks do not run, and the grade is incomplete.
            begin: called before the first check runs.
        """
        start = time.monotonic()
        try:
            tree = read_submission(submission, self._assignment)
        except Unreadable as fault:
            return self._ungraded(submission, str(fault), start)
        key = record.key_of(tree.digest, self._assignment_digest)
        if recorded is not None and not only and record.is_current(recorded, key):
            if recorded.submitters != submission.submitters:
                recorded = msgspec.structs.replace(recorded, submitters=submission.submitters)
            return applied(recorded, self._late, submission.created_at, submission.due)
        begin()
        grade = self.grade_tree(submission.name, tree, key, start, only)
        grade = msgspec.structs.replace(
            grade, submitters=submission.submitters, staff=(*submission.staff, *grade.staff)
        )
        return applied(grade, self._late, submission.created_at, submission.due)

    def grade_tree(
        self, name: str, tree: SourceTree, key: Key | None = None, start: float | None = None, only: Sequence[str] = ()
    ) -> Grade:
        """The grade of a source tree: written out, run check by check, added up."""
        start = time.monotonic() if start is None else start
        with _written(tree) as folder:
            handed_in = [part.name for part in self._assignment.parts if part.file in tree.files]
            limits = self._assignment.limits
            workers = Workers(self._spawn_from(folder), handed_in, limits, tree.files, self.until)
            chosen = _chosen(self._checks.checks, only)
            if self.until_one_fails:  # then the order in which they are named matters
                chosen = sorted(
                    chosen, key=lambda check: min(only.index(name) for name in _names(check) if name in only)
                )
            try:
                results, leaderboard = self._run_checks(workers, chosen)
            finally:
                workers.finish()
            left_over = self._left_over() or (_CUT_SHORT if workers.cut_short else "")
        grade = self._add_up(name, results, key, start)
        staff = (*tree.staff, *_left_out(results))
        grade = msgspec.structs.replace(
            grade, notes=tree.notes, staff=staff, held=tree.held, leaderboard=tuple(leaderboard)
        )
        if left_over:
            grade = msgspec.structs.replace(grade, status="incomplete", reason=left_over)
        if only and grade.status == "graded":
            numbers = ", ".join(each.number for each in results)
            grade = msgspec.structs.replace(grade, status="incomplete", reason=f"only {numbers} ran, as asked")
        return grade

    def _left_over(self) -> str:
        """Wait until every process of the student's is dead. Returns why that is not sure, or ""."""
        try:
            self._settle()
        except GraderError as error:
            return f"it is not sure that every process of this submission has ended: {error}"
        return ""

    def try_out(self, name: str, subject: Subject, only: Sequence[str] = ()) -> Grade:
        """What the chosen checks say of code that `subject` runs. The maximum is theirs, so this is not a grade."""
        results, _ = self._run_checks(subject, _chosen(self._checks.checks, only))
        grade = self._add_up(name, results, None, time.monotonic())
        parts = tuple(
            msgspec.structs.replace(part, maximum=math.fsum(each.counted for each in results if each.part == part.part))
            for part in grade.parts
            if any(each.part == part.part for each in results)
        )
        return msgspec.structs.replace(grade, parts=parts, maximum=math.fsum(part.maximum for part in parts))

    def _run_checks(
        self, subject: Subject, chosen: Sequence[Check]
    ) -> tuple[list[CheckResult], list[LeaderboardEntry]]:
        start = time.monotonic()
        results: list[CheckResult] = []
        leaderboard: list[LeaderboardEntry] = []
        traces: list[CheckTrace] = []
        diagnosis = Diagnosis(self._bank)
        # What student code prints in a visible check is shown: so far, no hidden check has told it anything.
        in_order = (
            chosen
            if self.until_one_fails
            else sorted(chosen, key=lambda check: (check.hidden, check.number not in self.first))
        )
        settled: list[CheckResult] | None = None
        for place, check in enumerate(in_order, start=1):
            if check.hidden and settled is None:  # no cause that is read at a visible check may tell of hidden ones
                settled, results = with_causes(results, diagnosis), []
            subject.expect(place < len(in_order))
            run = examine(self._checks, check, subject, self._reference)
            found = result(run)
            trace = self._trace(run)
            self.look(run)
            value = next((item.leaderboard for item in run.items if item.leaderboard is not None), None)
            if check.leaderboard is not None:
                leaderboard.append(
                    LeaderboardEntry(name=check.leaderboard.name, value=value, order=check.leaderboard.order)
                )
            del run, value  # with all that the student returned, before the check runs at home
            at_home = None
            if self._checks.two_keys and not check.hidden:
                found, at_home = self._told_at_home(found, check, subject, start)
            found = with_cells(found, subject)
            traces += filter(None, [trace, at_home])
            results.append(found)
            self.keep(_with_its_cause(found, trace, diagnosis))
            if self.until_one_fails and results[-1].outcome != "passed":
                break
        results = [*(settled or ()), *with_causes(results, diagnosis)]
        place_of = {check.number: place for place, check in enumerate(chosen)}
        results.sort(key=lambda each: place_of[each.number])
        traces.sort(key=lambda each: place_of[each.number.removesuffix(AT_HOME)])
        self.traces = tuple(traces)
        return results, leaderboard

    def _trace(self, run: CheckRun, suffix: str = "") -> CheckTrace | None:
        """What diagnosis keeps of a run. Whatever a student returned, looking for a cause costs nobody a grade."""
        try:
            trace = trace_of(run, keep_all=self.keep_traces)
        except Exception as error:
            _no_cause(run.check.number, error)
            return None
        return msgspec.structs.replace(trace, number=f"{run.check.number}{suffix}")

    def _told_at_home(
        self, found: CheckResult, check: Check, subject: Subject, start: float
    ) -> tuple[CheckResult, CheckTrace | None]:
        """The result of a visible check with what its student may see, and for a proof the trace of the run at home.

        Points come from the hidden key, so that a table of the answers at home earns nothing. Where the check fails, it
        runs again on the public key, and the numbers shown are those: nothing that was printed or raised on the hidden
        key is shown. A slow submission does without: its time is for the other checks.
        """
        untried = msgspec.structs.replace(found, only_here="not tried at home")
        late = time.monotonic() - start > self._assignment.limits.total_seconds / 3
        wrong = found.outcome in ("failed", "partial", "crashed")
        if self.at_home != "always" and (late or not wrong):
            return (found if found.outcome in ("missing", "not_run") else untried), None
        subject.expect(True)
        run = examine(self._checks, check, subject, self._reference, public=True)
        told = result(run)
        trace = None if self.at_home == "where it fails" else self._trace(run, AT_HOME)
        if told.outcome == "passed":
            return msgspec.structs.replace(found, only_here="passes at home"), trace
        if not wrong:  # asked for by who proves an assignment
            return (told if found.outcome == "passed" else untried), trace
        if told.outcome == "broken":
            return (told if self.at_home != "where it fails" else untried), trace
        shown = ("explanation", "reason", "output")
        return msgspec.structs.replace(found, **{name: getattr(told, name) for name in shown}), trace

    def _add_up(self, name: str, results: list[CheckResult], key: Key | None, start: float) -> Grade:
        broken = [each for each in results if each.outcome == "broken"]
        reason = ""
        if broken:
            numbers = ", ".join(each.number for each in broken)
            reason = f"check {numbers} could not be carried out, for a reason that is not the student's"
        own = [each for each in results if not each.extra]
        parts = tuple(
            PartPoints(
                part=part.name,
                number=part.number,
                points=_rounded(math.fsum(each.score for each in own if each.part == part.name)),
                maximum=part.points,
            )
            for part in self._assignment.parts
        )
        grade = Grade(
            submission=name,
            assignment=self._assignment.name,
            status="incomplete" if reason else "graded",
            points=None,
            maximum=self._assignment.maximum,
            parts=parts,
            checks=tuple(results),
            reason=reason,
            extra_credit=_rounded(math.fsum(each.score for each in results if each.extra)),
            extra_cap=self._assignment.extra_credit_cap,
            sandbox=self._sandbox,
            wall_seconds=round(time.monotonic() - start, 3),
            key=key,
        )
        return msgspec.structs.replace(grade, points=total_of(grade, None))

    def _ungraded(self, submission: Submission, reason: str, start: float) -> Grade:
        return Grade(
            submission=submission.name,
            assignment=self._assignment.name,
            status="ungraded",
            points=None,
            maximum=self._assignment.maximum,
            reason=reason,
            staff=submission.staff,
            submitters=submission.submitters,
            sandbox=self._sandbox,
            wall_seconds=round(time.monotonic() - start, 3),
        )


def _with_its_cause(found: CheckResult, trace: CheckTrace | None, diagnosis: Diagnosis) -> CheckResult:
    """The result with the cause that is known so far, once the diagnosis has seen its trace."""
    try:
        if trace is not None and found.outcome != "broken":
            diagnosis.see(trace)
        return with_causes([found], diagnosis)[0]
    except Exception as error:
        _no_cause(found.number, error)
        return found


def _no_cause(number: str, error: Exception) -> None:
    print(f"softmark: no cause is looked for in check {number}: {error!r:.300}", file=sys.stderr)


def _left_out(results: Sequence[CheckResult]) -> list[str]:
    """For staff: which checks failed because what the part forbids was called."""
    raised = [(each.number, each.reason.message) for each in results if isinstance(each.reason, Raised)]
    called = [(number, message.removesuffix(LEFT_OUT)) for number, message in raised if message.endswith(LEFT_OUT)]
    return [f"check {number} failed because the submission used {what[:200].strip()}" for number, what in called]


def _chosen(checks: Sequence[Check], only: Sequence[str]) -> tuple[Check, ...]:
    if not only:
        return tuple(checks)
    chosen = tuple(check for check in checks if any(word in _names(check) for word in only))
    for word in only:
        if not any(word in _names(check) for check in checks):
            raise SoftmarkError(no_such_check(word, checks))
    return chosen


def no_such_check(word: str, checks: Sequence[Check]) -> str:
    """The sentence for a check that is not among these. It names the others of its exercise, or all exercises."""
    exercise = word.rstrip("abcdefghijklmnopqrstuvwxyz")
    others = [check.number for check in checks if exercise in _names(check)] if exercise != word else []
    if others:
        return f"There is no check '{word}' here: of {exercise} there are {', '.join(others)}; others may be hidden."
    exercises = dict.fromkeys(_names(check)[1] for check in checks)
    return f"There is no check '{word}' (there are exercises {', '.join(exercises)})."


def _names(check: Check) -> tuple[str, ...]:
    """What chooses a check: its number, its exercise (2.3 of 2.3a), its name, its part."""
    return check.number, check.number.rstrip("abcdefghijklmnopqrstuvwxyz"), check.name, check.part


def _rounded(points: float) -> float:
    """Points as people write them: the sum of thirds is whole again."""
    return round(points, 6)


@contextmanager
def _written(tree: SourceTree) -> Generator[Path]:
    """The source tree in a folder of its own, which workers can read but cannot find by listing folders."""
    with TemporaryFolder() as top:
        top.chmod(0o711)
        folder = top / "submission"
        tree.write(folder)
        yield folder
