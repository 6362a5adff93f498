"""Many submissions on this machine: graders side by side, forked from one warm parent, sharing one fork server.

The parent computes nothing and holds no secret; each grader collects the checks once and then grades what it is
handed. A grader that dies costs one retry of the submission it was at. How one submission is graded stands in
`grading`.
"""

from __future__ import annotations

import errno
import gc
import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NoReturn, cast

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.errors import GraderError, SoftmarkError
from autograder.grading import record
from autograder.grading.grader import Grader
from autograder.intake.submission import Submission
from autograder.results import Grade
from autograder.run import written
from autograder.run.session import Session

MOST_TRIES = 2
_GRACE = 60.0
_LOOK_EVERY = 1.0
TRACES = "traces.msgpack"
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Done(msgspec.Struct, frozen=True, tag="done"):
    """A grader has graded and recorded a submission, or found its record current."""

    index: int
    grade: Grade
    resumed: bool


class Stopped(msgspec.Struct, frozen=True, tag="stopped"):
    """A grader cannot grade at all: the sentence is for whoever called."""

    sentence: str
    exit_code: int


@dataclass
class Job:
    """What is to be graded, where to, and how.

    Attributes:
        only_for: limits single submissions to some checks, or to a part.
        keep_traces: what each check saw is written beside the record, for the mistake bank.
        all_values_of: submissions of which traces hold what was compared in checks that passed, too.
        answers: the reference's answers on the public key, as recorded; visible checks that fail are traced there, too.
        at_home: submissions whose visible checks all run there, whether they fail or not.
        splice: the checks of `only` take their place in whole grades, which otherwise stay as they are.
        watch: told who is being graded, and since when of the monotonic clock, about once a second.
        until_one_fails: the first check that fails ends a submission's run; they run in the order of `only_for`.
    """

    assignment: Assignment
    submissions: Sequence[Submission]
    out: Path
    only: Sequence[str] = ()
    again: bool = False
    keep_traces: bool = False
    all_values_of: Collection[str] = ()
    answers: bytes = b""
    at_home: Collection[str] = ()
    until_one_fails: bool = False
    splice: bool = False
    watch: Callable[[Sequence[tuple[str, float]]], None] = lambda _at_work: None
    only_for: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


@dataclass
class _Desk:
    """One grader process as the parent sees it."""

    process: BaseProcess
    line: Connection
    at: int | None = None
    since: float = 0.0
    finished: bool = field(default=False)


def grade_all(job: Job, session: Session, graders: int) -> Iterator[Done]:
    """Grade every submission of `job`, yielding each as it is recorded. The session's fork server must be ready."""
    digest = record.assignment_digest(job.assignment)
    waiting = deque(range(len(job.submissions)))
    tries = [0] * len(job.submissions)
    gc.collect()
    gc.freeze()  # a collection in a grader would write to all that it shares, and so copy it: 35 MB each
    desks = [_start(job, session, digest) for _ in range(max(1, min(graders, len(job.submissions))))]
    try:
        for desk in desks:
            _hand_next(desk, waiting, tries)
        while any(desk.at is not None for desk in desks):
            at_work = [desk for desk in desks if desk.at is not None]
            job.watch([(job.submissions[desk.at or 0].name, desk.since) for desk in at_work])
            ready = wait([desk.line for desk in at_work], _LOOK_EVERY)
            _stop_stuck(desks, _stuck_after(job))
            for desk in [each for each in desks if each.line in ready]:
                at = desk.at
                assert at is not None
                answer = _receive(desk)
                if isinstance(answer, Stopped):
                    raise SoftmarkError(answer.sentence, exit_code=answer.exit_code)
                if answer is not None:
                    yield answer
                    _hand_next(desk, waiting, tries)
                    continue
                desks.remove(desk)
                if tries[at] >= MOST_TRIES:
                    yield _given_up(job, at)
                else:
                    waiting.appendleft(at)
                desks.append(replacement := _start(job, session, digest))
                _hand_next(replacement, waiting, tries)
    finally:
        gc.unfreeze()
        _dismiss(desks)


def _start(job: Job, session: Session, digest: str) -> _Desk:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_grader, args=(job, session, digest, theirs, ours), daemon=True)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)  # until the grader ignores them
    process.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    theirs.close()
    return _Desk(process, cast(Connection, ours))


def _hand_next(desk: _Desk, waiting: deque[int], tries: list[int]) -> None:
    desk.at = waiting.popleft() if waiting else None
    if desk.at is not None:
        tries[desk.at] += 1
        desk.since = time.monotonic()
        try:
            desk.line.send_bytes(msgspec.json.encode(desk.at))
        except OSError:  # it died at once: the read that follows finds out
            return


def _stuck_after(job: Job) -> float:
    """Seconds after which a grader is stuck: every limit of a submission's is past by far."""
    return 2 * job.assignment.limits.total_seconds + _GRACE


def _stop_stuck(desks: Sequence[_Desk], seconds: float) -> None:
    """Kill a grader that is at one submission for so long: a check of ours may never end on what a student returned."""
    for desk in desks:
        if desk.at is not None and time.monotonic() - desk.since > seconds:
            desk.process.kill()


def _receive(desk: _Desk) -> Done | Stopped | None:
    try:
        return msgspec.json.decode(desk.line.recv_bytes(), type=Done | Stopped)
    except (EOFError, OSError, msgspec.DecodeError):
        desk.process.join(1)
        return None


def _given_up(job: Job, index: int) -> Done:
    submission = job.submissions[index]
    grade = Grade(
        submission=submission.name,
        assignment=job.assignment.name,
        status="ungraded",
        points=None,
        maximum=job.assignment.maximum,
        reason=f"the grader itself died {MOST_TRIES} times while it graded this submission",
    )
    before = record.read(job.out, submission.name)
    if before is not None and before.status == "graded":
        return Done(index, written.keep(job.out, before, grade), False)
    written.write(job.out, grade)
    return Done(index, grade, False)


def _dismiss(desks: Sequence[_Desk]) -> None:
    """End the graders; who is at a submission has five seconds to finish it."""
    for desk in desks:
        desk.line.close()
    until = time.monotonic() + 5
    try:
        for desk in desks:
            desk.process.join(max(0.0, until - time.monotonic()))
    finally:  # interrupted once more, at once
        for desk in desks:
            desk.process.kill()
            desk.process.join()


# ------------------------------------------------------------------ in a grader process


def _grader(job: Job, session: Session, digest: str, line: Connection, parents_end: Connection) -> NoReturn:
    """The whole life of a grader: collect, then grade what comes down the line until it closes."""
    parents_end.close()
    for number in INTERRUPTIONS:  # the parent ends the run
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)
    code = 1
    try:
        session.with_grader(job.assignment, lambda grader: _work(grader, job, line), digest=digest, answers=job.answers)
        code = 0
    except SoftmarkError as error:
        code = error.exit_code
        kind = "" if not isinstance(error, GraderError) else "The grader failed: "
        line.send_bytes(msgspec.json.encode(Stopped(f"{kind}{error}", error.exit_code)))
    except BrokenPipeError:  # the parent was interrupted: what is recorded is kept
        code = 130
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            traceback.print_exc()
        else:
            place = error.filename or tempfile.gettempdir()
            sentence = (
                f"{place} could not be written ({error.strerror}). What was graded before is kept: make room for it."
            )
            line.send_bytes(msgspec.json.encode(Stopped(sentence, 2)))
    except BaseException:  # the parent retries the submission; why it was needed is for staff
        traceback.print_exc()
    finally:
        os._exit(code)


def nothing() -> None:
    """Begin without a trace."""


def _work(grader: Grader, job: Job, line: Connection) -> None:
    while True:
        try:
            index = msgspec.json.decode(line.recv_bytes(), type=int)
        except EOFError:
            return
        submission = job.submissions[index]
        grader.keep_traces = submission.name in job.all_values_of
        if job.answers:
            grader.at_home = "always" if submission.name in job.at_home else "with traces"
        grader.until_one_fails = job.until_one_fails
        before = record.read(job.out, submission.name)
        recorded = None if job.again else before
        whole_stays = bool(job.only) and before is not None and before.status == "graded"  # this is but a look
        try:
            begin = nothing if whole_stays else partial(written.begin, job.out, submission.name, job.assignment)
            grade = grader.grade(submission, recorded, job.only_for.get(submission.name, job.only), begin)
        except GraderError as error:  # that of one submission: it is tried again, and the run goes on
            raise RuntimeError(f"{submission.name}: {error}") from error
        resumed = grade is recorded
        if resumed:
            written.renew(job.out, grade)
        elif whole_stays and job.splice and before is not None:
            merged = written.spliced(before, grade)
            grade = written.replace(job.out, before, merged or grader.grade(submission, None, (), begin))
        elif not whole_stays:
            grade = written.replace(job.out, before, grade)
        if job.keep_traces:
            traces = record.folder_of(job.out, submission.name) / TRACES
            record.write_atomically(traces, msgspec.msgpack.encode(grader.traces))
        line.send_bytes(msgspec.json.encode(Done(index, grade, resumed)))
