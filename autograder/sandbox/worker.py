"""A worker as the grader sees it: requests go out, replies come back, limits hold.

One deadline covers the whole call, writing and reading; CPU time is read from the kernel, from outside. What comes
back is decoded strictly and bounded. It does not know what a check is, and does not decide whose fault a `Raised` is.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import secrets
import select
import struct
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol

from autograder.errors import GraderError
from autograder.sandbox.account import Account, Journal, anonymous_bytes
from autograder.sandbox.deaths import ProtocolBroken, ReturnedTooMuch, TimedOut, WorkerDied
from autograder.worker.protocol import messages
from autograder.worker.protocol.commands import Ended
from autograder.worker.protocol.messages import CalledBack, Raised, Ready, Reply, Request, Returned
from autograder.worker.protocol.wire import PREFIX, WireError, decode_reply, encode, frame_size, ticket_of

KEPT_OUTPUT = 10_000
READY_SECONDS = 60.0
_CHUNK = 1 << 18
_MOST_BLOCKS = 8
_SHORTEST_WAIT = 0.005
_BETWEEN_LOOKS = 0.002
_PROCESSORS = os.cpu_count() or 1
_MOST_NAMES = 1000  # of a part

_ANSWERS: dict[type[Request], tuple[type[Reply], ...]] = {
    messages.Load: (messages.Loaded, Raised),
    messages.Look: (Returned, CalledBack, messages.Found, messages.Missing, messages.Unreadable, Raised),
    messages.Call: (Returned, CalledBack, messages.Missing, messages.Unreadable, Raised),
    messages.Observe: (messages.Observed, CalledBack, messages.Missing, messages.Unreadable, Raised),
    messages.Vjp: (messages.Gradients, CalledBack, messages.Misfit, messages.Missing, messages.Unreadable, Raised),
    messages.OpenStream: (messages.Streamed, CalledBack, messages.Missing, messages.Unreadable, Raised),
    messages.Advance: (messages.Streamed, CalledBack, messages.Missing, messages.Unreadable, Raised),
    messages.Measure: (
        messages.Measured,
        messages.Unmeasured,
        messages.Misfit,
        messages.Missing,
        messages.Unreadable,
        Raised,
    ),
    messages.Operate: (Returned, CalledBack, messages.Missing, messages.Unreadable, Raised),
    messages.Release: (Returned,),
}


class Worker(Protocol):
    """What a proxy needs of a worker, wherever it runs."""

    cpu_seconds: float
    wall_seconds: float

    def request(self, message: Request, *, cpu_seconds: float, wall_seconds: float) -> Reply:
        """The reply to `message`, or a `WorkerFailure`."""
        ...

    def weigh(self, message: Request, *, cpu_seconds: float, wall_seconds: float) -> tuple[Reply, Account | None]:
        """As `request`, with the kernel's account of the call; None where there is none."""
        ...

    @property
    def output(self) -> str:
        """What student code has printed, bounded."""
        ...

    def close(self) -> None:
        """End the worker. May be called twice."""
        ...


class RemoteWorker:
    """A forked worker. `cpu_seconds` and `wall_seconds` add up over its calls.

    So do `queued_seconds`, in which it could have run and got no processor.
    `deadline` (of the monotonic clock) ends any call, however the time was spent: it is the whole submission's.
    `received` are the bytes that came back, `most_received` how many may in all: who asks may keep every value.
    `guarded` says whether seccomp keeps it from forging the kernel's account of its memory.
    """

    def __init__(
        self,
        end: Callable[[int], None],
        wait_ended: Callable[[int], Ended],
        pid: int,
        uid: int | None,
        pidfd: int,
        requests: int,
        replies: int,
        output: int,
    ) -> None:
        """`end` has a worker killed, `wait_ended` says what became of it; the others are its ids and descriptors."""
        self.pid = pid
        self.uid = uid
        self.cpu_seconds = 0.0
        self.wall_seconds = 0.0
        self.queued_seconds = 0.0
        self.deadline = math.inf
        self.received = 0
        self.most_received = math.inf
        self.guarded = True
        self._end, self._wait_ended = end, wait_ended
        self._clock = (~pid << 3) | 2  # CPUCLOCK_SCHED of the whole process, see clock_getcpuclockid(3)
        self._pidfd, self._requests, self._replies, self._output = pidfd, requests, replies, output
        self._ready = False
        self._closed = False
        self._kept = bytearray()
        self._printed = 0
        self._fresh = 0
        self._journal: Journal | None = None
        self._schedstat: int | None = None
        self._queued_before = 0.0
        self._output_ended = False
        self._asked: type[Request] = messages.Load  # what a `Resume` goes on with
        self._poll = select.poll()
        for descriptor in (requests, replies, output):
            os.set_blocking(descriptor, False)
        for descriptor in (replies, output, pidfd):
            self._poll.register(descriptor, select.POLLIN)

    def request(self, message: Request, *, cpu_seconds: float, wall_seconds: float) -> Reply:
        """The reply to `message`, within `cpu_seconds` of the worker's CPU time and `wall_seconds`.

        Time in which the worker could have run and got no processor is not counted: a busy machine fails nobody.
        Raises `WorkerDied`, `TimedOut`, `ProtocolBroken` (after any of them the worker is gone), `GraderError` when it
        never became ready or the fork server is dead, `Unencodable` for a message that cannot be passed on.
        """
        ticket = secrets.randbits(64)
        frame = b"".join(encode(message, ticket))
        if self._closed:
            raise GraderError("the worker has been ended already")
        self.wait_ready()
        started, cpu_before = time.monotonic(), self._cpu()
        self._queued_before = self._queued()
        try:
            self._check_nothing_pending()
            answer = self._exchange(frame, cpu_before + cpu_seconds, started + wall_seconds)
            if ticket_of(answer) != ticket:
                raise ProtocolBroken("what came back is no answer to the question that was asked")
            reply = self._decoded(answer)
            if not isinstance(message, messages.Resume):
                self._asked = type(message)
            if not isinstance(reply, _ANSWERS[self._asked]):
                raise ProtocolBroken(f"a {type(message).__name__} was answered by a {type(reply).__name__}")
            return reply
        except _OutOfTime as error:
            self._account(started, cpu_before)
            self.close()
            raise TimedOut(error.kind, cpu_seconds if error.kind == "cpu" else wall_seconds) from None
        except ProtocolBroken:
            self._account(started, cpu_before)
            self.close()
            raise
        except _Dead:
            raise self._buried(started) from None
        finally:
            if not self._closed:
                self._account(started, cpu_before)

    def weigh(self, message: Request, *, cpu_seconds: float, wall_seconds: float) -> tuple[Reply, Account | None]:
        """As `request`, with the kernel's account of the call; None where this process may not keep it."""
        self.wait_ready()
        journal, kept = None, True
        try:
            self._journal = journal = Journal(self.pid, self._fresh)
        except ProcessLookupError:
            kept = False
        except OSError:
            pass
        answered = self.received + self._printed
        try:
            reply = self.request(message, cpu_seconds=cpu_seconds, wall_seconds=wall_seconds)
        finally:
            self._journal = None
        if journal is not None:
            self._drain()
            try:
                account = journal.read(self.received + self._printed - answered)
                return reply, replace(account, guarded=self.guarded)
            except OSError:
                kept = False
        if not kept:  # it lives, as its answer shows
            self.close()
            raise ProtocolBroken("its main thread has ended, and with it the kernel's account of its memory")
        return reply, None

    def wait_ready(self) -> None:
        """Wait until the worker has set itself up. Raises `GraderError`: no student code has run before."""
        if self._ready:
            return
        try:
            reply = self._decoded(self._exchange(b"", None, time.monotonic() + READY_SECONDS))
        except _OutOfTime:
            self.close()
            raise GraderError(f"a worker was not ready after {READY_SECONDS:.0f} s") from None
        except ProtocolBroken as error:
            self.close()
            raise GraderError(f"a worker could not set itself up: {error.reason}") from None
        except _Dead:
            how = self._buried(time.monotonic()).description
            raise GraderError(f"a worker {how} before it was ready") from None
        if not isinstance(reply, Ready):
            self.close()
            said = (
                f"{reply.kinds[0]}: {reply.message}" if isinstance(reply, Raised) and reply.kinds else str(reply)[:200]
            )
            raise SetUpFailed(f"a worker could not set itself up: {said}", reply)
        with contextlib.suppress(OSError):  # else it has ended, and the first request finds out
            self._fresh = anonymous_bytes(self.pid)
        self._ready = True

    @property
    def output(self) -> str:
        """What student code has printed: the first 10,000 bytes, and how much more there was."""
        if not self._closed:
            self._drain()
        text = self._kept.decode("utf-8", "replace")
        rest = self._printed - len(self._kept)
        return f"{text}\n[{rest:,} more bytes]" if rest else text

    def close(self) -> None:
        """Have the worker killed with everything it started, without waiting for it (`Connection.settle`)."""
        if self._closed:
            return
        self._release()
        try:
            self._end(self.pid)
        except GraderError:
            return  # the fork server is dead, and with it the worker

    # -------------------------------------------------------------- the call

    def _exchange(self, frame: bytes, cpu_deadline: float | None, deadline: float) -> bytearray:
        """Write `frame`, read one whole frame, keep what is printed meanwhile."""
        unsent = memoryview(frame)
        received = bytearray()
        wanted = PREFIX
        if unsent:
            unsent = self._write(unsent)
            if unsent:
                self._poll.register(self._requests, select.POLLOUT)
        try:
            while True:
                events = self._poll.poll(self._patience(cpu_deadline, deadline))
                ready = {descriptor for descriptor, _ in events}
                if self._requests in ready:
                    unsent = self._write(unsent)
                    if not unsent:
                        self._poll.unregister(self._requests)
                if self._output in ready:
                    self._drain()
                if self._replies in ready or self._pidfd in ready:
                    wanted = self._read(received, wanted)
                    if len(received) == wanted and wanted > PREFIX:
                        return received
                    if len(received) > wanted:
                        raise ProtocolBroken("more was written than one answer")
                    if self._pidfd in ready and not self._readable():
                        raise _Dead
        finally:
            if unsent:
                self._poll.unregister(self._requests)

    def _write(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._requests, unsent) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            raise self._hung_up() from None

    def _read(self, received: bytearray, wanted: int) -> int:
        """Read what there is; returns how long the whole frame is to be."""
        try:
            block = os.read(self._replies, _CHUNK)
        except BlockingIOError:
            return wanted
        if not block:
            raise self._hung_up()
        received += block
        self.received += len(block)
        if self.received > self.most_received:
            raise ReturnedTooMuch
        if wanted == PREFIX and len(received) >= PREFIX:
            try:
                return frame_size(received)
            except WireError as error:
                raise ProtocolBroken(f"what came back is no answer: {error}") from None
        return wanted

    def _readable(self) -> bool:
        return _pending_bytes(self._replies) > 0

    def _hung_up(self) -> Exception:
        """The pipe is closed: the process is dying, or student code closed it."""
        if _dies(self._pidfd):
            return _Dead()
        return ProtocolBroken("student code closed the pipe that the answer comes through")

    def _check_nothing_pending(self) -> None:
        pending = _pending_bytes(self._replies)
        if pending:
            raise ProtocolBroken(f"{pending} bytes of an answer came before the question")

    def _patience(self, cpu_deadline: float | None, deadline: float) -> float:
        """Milliseconds until a limit could be reached. Raises `_OutOfTime` when one is."""
        now = time.monotonic()
        left = deadline - now
        if left <= 0:
            left += self._queued() - self._queued_before
        left = min(left, self.deadline - now)
        if left <= 0:
            raise _OutOfTime("wall")
        if cpu_deadline is not None:
            cpu_left = cpu_deadline - self._cpu()
            if cpu_left <= 0:
                raise _OutOfTime("cpu")
            left = min(left, max(cpu_left / _PROCESSORS, _SHORTEST_WAIT))
        if self._journal is not None:
            with contextlib.suppress(OSError):  # it has ended
                self._journal.look()
            return min(left, _BETWEEN_LOOKS) * 1000.0
        return left * 1000.0 + 1.0

    def _cpu(self) -> float:
        """Seconds of CPU time that the process has used; once it is gone, what was known last."""
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0

    def _queued(self) -> float:
        """Seconds in which the process stood in the queue for a processor; 0 where the kernel does not tell."""
        try:
            if self._schedstat is None:
                self._schedstat = os.open(f"/proc/{self.pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            return int(os.pread(self._schedstat, 100, 0).split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def _drain(self) -> None:
        """Take what is there. Student code may print as fast as this reads, so that it stops after a few blocks."""
        for _ in range(_MOST_BLOCKS):
            try:
                block = os.read(self._output, _CHUNK)
            except BlockingIOError:
                return
            if not block:
                if not self._output_ended:
                    self._poll.unregister(self._output)
                self._output_ended = True
                return
            self._printed += len(block)
            if len(self._kept) < KEPT_OUTPUT:
                self._kept += block[: KEPT_OUTPUT - len(self._kept)]
            if len(block) < _CHUNK:
                return

    def _decoded(self, frame: bytearray) -> Reply:
        try:
            return bounded(decode_reply(frame))
        except WireError as error:
            raise ProtocolBroken(f"what came back is no answer: {error}") from None

    # -------------------------------------------------------------- the end

    def _account(self, started: float, cpu_before: float) -> None:
        self.wall_seconds += time.monotonic() - started
        self.cpu_seconds += max(0.0, self._cpu() - cpu_before)
        self.queued_seconds += max(0.0, self._queued() - self._queued_before)

    def _buried(self, started: float) -> WorkerDied:
        """End a worker that is dead already; returns how it died. Raises `GraderError` when the fork server is dead."""
        self.wall_seconds += time.monotonic() - started
        self._release()
        self._end(self.pid)
        ended = self._wait_ended(self.pid)
        self.cpu_seconds = max(self.cpu_seconds, ended.cpu_seconds)
        return WorkerDied(ended.status, ended.overfull)

    def _release(self) -> None:
        self._drain()
        self._closed = True
        for descriptor in (self._requests, self._replies, self._output, self._pidfd, self._schedstat):
            if descriptor is not None:
                os.close(descriptor)
        self._schedstat = None


class SetUpFailed(GraderError):
    """A worker said why it could not start: `reply`."""

    def __init__(self, sentence: str, reply: Reply) -> None:
        super().__init__(sentence)
        self.reply = reply


class _OutOfTime(Exception):
    def __init__(self, kind: Literal["cpu", "wall"]) -> None:
        super().__init__(kind)
        self.kind: Literal["cpu", "wall"] = kind


class _Dead(Exception):
    pass


def _pending_bytes(descriptor: int) -> int:
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))[0]


def _dies(pidfd: int) -> bool:
    """Whether the process ends within a second: its pipes close a moment before it is dead."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(1000))


def bounded(reply: Reply) -> Reply:
    """Texts cut to what a worker of ours sends: a forged reply may hold a megabyte."""
    if isinstance(reply, Raised):
        kinds = tuple(kind[:200] for kind in reply.kinds[:20])
        return Raised(kinds, reply.message[:2000], reply.frames[:6000], reply.stub)
    if isinstance(reply, messages.Missing):
        return messages.Missing(reply.name[:200], tuple(name[:200] for name in reply.near[:3]))
    if isinstance(reply, messages.Unreadable):
        return messages.Unreadable(reply.type_name[:200], reply.where[:200], reply.reason[:200])
    if isinstance(reply, messages.Misfit):
        return messages.Misfit(reply.reason[:200])
    if isinstance(reply, messages.Measured):
        texts = {name: getattr(reply, name)[:200] for name in ("largest_where", "largest_operator")}
        operators, devices = (tuple(x[:200] for x in each[:400]) for each in (reply.operators, reply.devices))
        return replace(reply, **texts, operators=operators, devices=devices)
    if isinstance(reply, messages.Unmeasured):
        return messages.Unmeasured(reply.reason[:200])
    if isinstance(reply, messages.Found):
        return messages.Found(reply.kind if reply.kind in ("function", "class", "object") else "object")
    if isinstance(reply, messages.Loaded):
        known = [each for each in reply.kinds.items() if each[1] in ("function", "class")]
        return messages.Loaded(dict(known[:_MOST_NAMES]))
    return reply
