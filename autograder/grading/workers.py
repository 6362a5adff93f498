"""The workers of one submission: a fresh one for each check, and what they have in common.

It keeps what must hold over a whole submission: a part whose import fails is not imported again, a function that timed
out in three checks is not called again, and there is a total deadline. It turns the failures of a worker into
`StudentError`s.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar

from autograder import results
from autograder.assignment.assignment import Limits
from autograder.grading.checks import Check
from autograder.grading.in_place import import_error
from autograder.grading.line import Answering, Transport
from autograder.grading.plugin import Usage
from autograder.sandbox import deaths
from autograder.sandbox.account import Account
from autograder.student_error import StudentError
from autograder.worker.protocol.messages import CalledBack, Found, Load, Loaded, Look, Raised, Reply, Request, Target

if TYPE_CHECKING:
    from autograder.sandbox.worker import RemoteWorker

MOST_TIMEOUTS = 3
MOST_RETURNED = 128 << 20
"""Bytes that may come back in one check. (It may keep them all, and a list of integers takes five times as many.)"""
_TOO_MUCH = results.ReturnedTooMuch(megabytes=MOST_RETURNED >> 20)
_MUCH = 0.05
Answer = TypeVar("Answer")


class Spawn(Protocol):
    """What starts workers for what was handed in."""

    def __call__(self) -> RemoteWorker: ...

    def prepare(self) -> None:
        """The next one will be needed."""
        ...

    def close(self) -> None:
        """No other will be needed."""
        ...


def wall_limit(seconds: float) -> float:
    """Seconds of wall time for so many seconds of CPU. It is generous, since it only has to stop code that waits."""
    return 3 * seconds + 10


class Workers:
    """A `Subject` that carries a check out in a worker of its own."""

    def __init__(
        self,
        spawn: Spawn,
        handed_in: Collection[str],
        limits: Limits,
        files: Mapping[str, bytes] = MappingProxyType({}),
        until: float = math.inf,
        most_timeouts: int = MOST_TIMEOUTS,
    ) -> None:
        """`until`, of the monotonic clock, is the end whatever happens: waiting for a processor does not put it off."""
        self._most_timeouts = most_timeouts
        self._spawn = spawn
        self._files = files
        self._handed_in = frozenset(handed_in)
        self._limits = limits
        self._total = max(0.0, min(limits.total_seconds, until - time.monotonic()))
        self._until = until
        self._deadline = time.monotonic() + self._total
        self._waited = self._own = 0.0
        self._over = False
        self._worker: RemoteWorker | None = None
        self._found: dict[str, Found] = {}
        self._unimportable: dict[str, StudentError] = {}
        self._imported: set[str] = set()
        self._timeouts: Counter[str] = Counter()
        self._slow_checks: set[tuple[str, str]] = set()
        self._used: list[RemoteWorker] = []
        self._usage = Usage()
        self._more = False

    def expect(self, more: bool) -> None:
        """Whether a check follows the one that is to be opened next: its worker can be forked meanwhile."""
        self._more = more

    def finish(self) -> None:
        """No check follows."""
        self.close()
        self._spawn.close()

    def open(self, check: Check, seconds: float) -> Transport:
        """A transport for one item of `check`; its worker is started, and the part imported, by the first item.

        An item whose worker died or was stopped leaves a fresh one to the next item.
        """
        if self.past_deadline():
            raise StudentError(results.DeadlinePassed(seconds=self.total_seconds))
        if check.part in self._unimportable:
            raise self._unimportable[check.part].with_traceback(None)  # else it grows with each check
        if self._worker is None:
            left = MOST_RETURNED - sum(worker.received for worker in self._used)
            if left <= 0:
                raise StudentError(_TOO_MUCH)
            self._worker = self._with_part(check)
            self._worker.most_received = left
        return _WithinLimits(self, self._worker, check, seconds)

    def close(self) -> None:
        """End the worker and everything that runs under its user id."""
        self.retire()
        cpu_seconds = sum(worker.cpu_seconds for worker in self._used)
        self._usage = Usage(cpu_seconds, "".join(worker.output for worker in self._used))
        self._used.clear()

    def retire(self) -> None:
        """End the worker of the moment. The next item gets another."""
        if self._worker is not None:
            self._worker.close()
            self._used.append(self._worker)
            self._worker = None

    def usage(self) -> Usage:
        return self._usage

    def file(self, name: str) -> bytes | None:
        return self._files.get(name)

    def _with_part(self, check: Check) -> RemoteWorker:
        part = check.part
        if part not in self._handed_in:
            raise self._blame(part, StudentError(results.NotHandedIn(file=f"{part}.py")))
        self._worker = worker = self._spawn()
        if self._more:
            self._spawn.prepare()
        worker.deadline = self._until
        seconds = self._limits.import_seconds
        start = time.monotonic()
        try:
            reply = worker.request(Load(part, check.forbids), **self.allow(seconds, wall_limit(seconds)))
        except deaths.WorkerFailure as failure:
            if self.past_deadline():
                raise StudentError(results.DeadlinePassed(seconds=self.total_seconds)) from None
            failed = results.ImportFailed(part=part, why=_reason(failure, seconds))
            raise self._blame(part, StudentError(failed)) from None
        finally:
            own = time.monotonic() - start - worker.queued_seconds
            counted = 0.0 if part in self._imported else own  # that each check has an import of its own is our doing
            self._imported.add(part)
            self.put_off_deadline(worker.queued_seconds, counted)
            self._extend(own - counted)
        if isinstance(reply, Raised):
            raise self._blame(part, import_error(part, reply))
        assert isinstance(reply, Loaded)
        self._found = {name: Found(kind) for name, kind in reply.kinds.items()}
        return worker

    def found(self, message: Request) -> Found | None:
        """The answer to a `Look`, where the worker of the moment gave it when it loaded the part."""
        if not isinstance(message, Look) or message.target.handle is not None:
            return None
        return self._found.get(message.target.name)

    def _blame(self, part: str, error: StudentError) -> StudentError:
        self._unimportable[part] = error
        return error

    def allow(self, cpu_seconds: float, wall_seconds: float) -> dict[str, float]:
        """The limits of one request, cut to what is left until the deadline."""
        left = min(wall_seconds, self._deadline - time.monotonic())
        return {"cpu_seconds": max(cpu_seconds, 0.0), "wall_seconds": max(left, 0.0)}

    def refuse_slow(self, function: str) -> None:
        """Stop trying a function that has timed out in three checks."""
        if self._timeouts[function] >= self._most_timeouts:
            raise StudentError(results.GivenUp(function=function, times=self._most_timeouts))

    def count_timeout(self, function: str, check: Check) -> None:
        """Count time-outs by check: two items of one parametrised check count once."""
        if (function, check.number) not in self._slow_checks:
            self._slow_checks.add((function, check.number))
            self._timeouts[function] += 1

    def put_off_deadline(self, seconds: float, own: float = 0.0) -> None:
        """A busy machine fails nobody: `seconds` of waiting for a processor do not count, `own` seconds do."""
        self._waited += seconds
        self._own += own
        self._extend(seconds)

    def _extend(self, seconds: float) -> None:
        self._deadline = min(self._deadline + seconds, self._until)

    @property
    def total_seconds(self) -> float:
        return float(f"{self._total:.3g}")

    @property
    def cut_short(self) -> bool:
        """Whether the time was up, much of it had gone by in waiting for a processor, and the student's own code took
        at most half of it: not the student's fault."""
        return self._over and self._waited > _MUCH * self._total and self._own <= self._total / 2

    def past_deadline(self) -> bool:
        """Whether the time for the submission is used up; once it is, it stays so."""
        self._over = self._over or time.monotonic() > self._deadline
        return self._over


class _WithinLimits:
    """The transport of one item: all its requests together stay within the item's seconds."""

    def __init__(self, workers: Workers, worker: RemoteWorker, check: Check, seconds: float) -> None:
        self._workers, self._worker, self._check, self._seconds = workers, worker, check, seconds
        self._wall_left = wall_limit(seconds)
        self._cpu_before = worker.cpu_seconds

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        if (found := self._workers.found(message)) is not None:
            return found
        function = _function(message)
        reply = self._within(message, self._worker.request, function)
        while isinstance(reply, CalledBack) and answer is not None:
            try:
                resumed = answer(reply)
            except BaseException:
                self._workers.retire()  # it waits in the middle of a call
                raise
            reply = self._within(resumed, self._worker.request, function)
        if isinstance(reply, CalledBack):
            self._workers.retire()
        return reply

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        return self._within(message, self._worker.weigh, _function(message))

    def _within(self, message: Request, ask: Callable[..., Answer], function: str) -> Answer:
        self._workers.refuse_slow(function)
        start, queued_before = time.monotonic(), self._worker.queued_seconds
        cpu_left = self._seconds - (self._worker.cpu_seconds - self._cpu_before)
        try:
            return ask(message, **self._workers.allow(cpu_left, self._wall_left))
        except deaths.WorkerFailure as failure:
            if isinstance(failure, deaths.TimedOut):
                if self._workers.past_deadline():
                    raise StudentError(results.DeadlinePassed(seconds=self._workers.total_seconds)) from None
                self._workers.count_timeout(function, self._check)
            self._workers.retire()
            raise StudentError(_reason(failure, self._seconds, function)) from None
        finally:
            queued = self._worker.queued_seconds - queued_before
            own = time.monotonic() - start - queued
            self._wall_left -= own
            self._workers.put_off_deadline(queued, own)


def _function(message: Request) -> str:
    target = getattr(message, "target", None)
    if not isinstance(target, Target):
        return "your code"
    return target.name or "the object"


def _reason(
    failure: deaths.WorkerFailure, seconds: float, function: str = ""
) -> results.Crashed | results.AnsweredWrongly | results.ReturnedTooMuch | results.TimedOut:
    match failure:
        case deaths.TimedOut(kind=kind):
            limit = seconds if kind == "cpu" else wall_limit(seconds)
            return results.TimedOut(of=kind, seconds=limit, function=function)
        case deaths.WorkerDied(signal=signal, status=status, overfull=overfull):
            return results.Crashed(function=function, signal=signal, status=status, overfull=overfull)
        case deaths.ReturnedTooMuch():
            return _TOO_MUCH
        case _:
            return results.AnsweredWrongly()
