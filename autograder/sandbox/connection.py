"""A grader's connection to the fork server: it has workers forked and ended.

Several workers may be asked for before the first is fetched. `sandbox.worker` talks to a worker; the caller decides
which limits a check gets.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GraderError, SoftmarkError
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol import commands
from autograder.worker.protocol.commands import WorkerSpec

if TYPE_CHECKING:
    from autograder.sandbox.worker import RemoteWorker


@dataclass(frozen=True)
class Limits:
    """What a worker may use, and what confines it.

    Bytes of memory beyond the fork, seconds of CPU in all (back-stop), bytes of all its files. `without` names layers
    that are left off: for proofs, and where a layer does not work.
    """

    memory_bytes: int = 256 << 20
    cpu_seconds: int = 3600
    scratch_bytes: int = 16 << 20
    without: tuple[str, ...] = ()


DEFAULT_LIMITS = Limits()


class Connection:
    """One grader's connection to the fork server. A forked process needs one of its own.

    Raises `GraderError` where the fork server is dead.
    """

    def __init__(self, server: ForkServer) -> None:
        self._line = server.connect()
        self._server = server
        self._warm = False
        self._missing: frozenset[str] = frozenset()
        self._pending: set[int] = set()
        self._ended: dict[int, commands.Ended] = {}
        self._begun = 0
        self._spawned: deque[tuple[commands.Answer, list[int]]] = deque()

    def wait_ready(self, *, seconds: float = 120.0) -> commands.Hello:
        """Wait until the server is warm. Raises `GraderError`."""
        answer, _ = self._receive(seconds)
        if not isinstance(answer, commands.Hello):
            raise GraderError(f"the fork server said {answer} where a greeting was expected")
        self._warm, self._missing = True, frozenset(answer.missing)
        self._server.pid = answer.pid
        return answer

    def spawn(
        self,
        folder: str | os.PathLike[str],
        modules: Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        *,
        readable: Sequence[str] = (),
    ) -> RemoteWorker:
        """A fresh worker on the parts `modules` in `folder`.

        It sets itself up while this returns. `readable` are paths that it must be able to read, or it does not start.
        Raises `GraderError`.
        """
        return self.begin(folder, modules, limits, readable=readable).worker()

    def begin(
        self,
        folder: str | os.PathLike[str],
        modules: Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        *,
        readable: Sequence[str] = (),
    ) -> Coming:
        """As `spawn`, without waiting for the fork. What was begun first is to be fetched first."""
        if not self._warm:
            self.wait_ready()
        spec = WorkerSpec(
            folder=os.path.abspath(folder),
            modules=tuple(modules),
            memory_bytes=limits.memory_bytes,
            cpu_seconds=limits.cpu_seconds,
            scratch_bytes=limits.scratch_bytes,
            readable=tuple(readable),
            without=limits.without,
        )
        (requests_end, requests), (replies, replies_end), (output, output_end) = os.pipe(), os.pipe(), os.pipe()
        try:
            self._send(commands.encode(commands.Spawn(spec)), [requests_end, replies_end, output_end])
        except BaseException:
            for descriptor in (requests, replies, output):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (requests_end, replies_end, output_end):
                os.close(descriptor)
        self._begun += 1
        return Coming(self, (requests, replies, output), "seccomp" not in self._missing.union(limits.without))

    def warm(self, modules: Iterable[str]) -> None:
        """Have the fork server import `modules` before it forks the next worker; does not wait for it."""
        self._send(commands.encode(commands.Warm(tuple(modules))), [])

    def end(self, worker: int) -> None:
        """Have everything of `worker` killed; does not wait for it (`wait_ended`, `settle`)."""
        self._pending.add(worker)
        self._send(commands.encode(commands.End(worker)), [])

    def wait_ended(self, worker: int) -> commands.Ended:
        """What became of `worker`, once nothing of it is left. Raises `GraderError`."""
        while worker not in self._ended:
            self._keep(*self._receive(60.0))
        return self._ended.pop(worker)

    def settle(self) -> None:
        """Wait until nothing is left of any worker that was ended on this connection."""
        while self._pending:
            self._keep(*self._receive(60.0))
        self._ended.clear()

    def close(self) -> None:
        """Hang up: the server ends the workers of this connection."""
        self._line.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next_spawned(self) -> tuple[commands.Answer, list[int]]:
        """What the server answered to the first `begin` that has no answer yet."""
        while not self._spawned:
            self._keep(*self._receive(60.0))
        return self._spawned.popleft()

    def _keep(self, answer: commands.Answer, descriptors: list[int]) -> None:
        if not isinstance(answer, commands.Ended):
            if not self._begun:
                raise GraderError(f"the fork server said {answer} where the end of a worker was expected")
            self._begun -= 1
            self._spawned.append((answer, descriptors))
            return
        if answer.alive:
            raise GraderError(f"processes of worker {answer.worker} could not be killed; restart the machine")
        self._pending.discard(answer.worker)
        self._ended[answer.worker] = answer

    def _send(self, command: bytes, descriptors: list[int]) -> None:
        try:
            socket.send_fds(self._line, [command], descriptors)
        except OSError:
            raise self._server.death() from None

    def _receive(self, seconds: float) -> tuple[commands.Answer, list[int]]:
        try:
            self._line.settimeout(seconds)
            message, descriptors, _, _ = socket.recv_fds(self._line, commands.MAX_COMMAND, 1)
        except TimeoutError:
            doing = _doing(self._server.pid)
            raise GraderError(f"the fork server did not answer within {seconds:.0f} s ({doing})") from None
        except OSError:
            raise self._server.death() from None
        if not message:
            raise self._server.death()
        return commands.ANSWERS.decode(message), descriptors


class Coming:
    """A worker that is being forked. To be fetched with `worker`, once."""

    def __init__(self, connection: Connection, pipes: tuple[int, int, int], guarded: bool) -> None:
        self.connection = connection
        self._pipes = pipes
        self._guarded = guarded

    def abandon(self) -> None:
        """Nobody will fetch it: its connection is closed, and with that it has ended."""
        for descriptor in self._pipes:
            os.close(descriptor)

    def worker(self) -> RemoteWorker:
        """The worker, as soon as it is forked. Raises `GraderError`."""
        from autograder.sandbox.worker import RemoteWorker  # imports torch: the launch must not wait for that

        try:
            answer, descriptors = self.connection.next_spawned()
            if not isinstance(answer, commands.Spawned):
                raise GraderError(f"no worker could be started: {getattr(answer, 'reason', answer)}")
        except BaseException:
            self.abandon()
            raise
        ends = (self.connection.end, self.connection.wait_ended)
        worker = RemoteWorker(*ends, answer.worker, answer.uid, descriptors[0], *self._pipes)
        worker.guarded = self._guarded
        return worker


def wait_ready(server: ForkServer, *, seconds: float = 120.0) -> commands.Hello:
    """Wait until the fork server is warm.

    Raises:
        GraderError: it is not warm within `seconds`.
        SoftmarkError: workers would run as root.
    """
    with Connection(server) as connection:
        hello = connection.wait_ready(seconds=seconds)
    if hello.identities == "none" and os.geteuid() == 0:
        raise SoftmarkError(
            "Workers cannot be given a user id of their own here: this process is root but may not change ids. "
            "Run as an ordinary user, or allow CAP_SETUID and CAP_SETGID.",
            exit_code=1,
        )
    return hello


def _doing(pid: int) -> str:
    """For the log: the state of a process, where in the kernel it waits, and the same of its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    said: list[str] = []
    for each in (str(pid), *children[:8]):
        with contextlib.suppress(OSError, IndexError):
            state = Path(f"/proc/{each}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0]
            said.append(f"{each} {state} {Path(f'/proc/{each}/wchan').read_text()}")
    return "; ".join(said) or f"{pid} is gone"
