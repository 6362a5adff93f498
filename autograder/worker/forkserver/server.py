"""The fork server: a warm process that forks workers and ends them.

Theory of operation. Importing torch takes a second or more, and a fork of a process that has imported it takes
milliseconds. So one process imports everything once, and each check gets a fork of it. `sandbox.launch` starts it as a
program of its own, from a copy of this package, before the grader reads anything secret. It holds no secret, has one
thread (a pool of threads does not survive a fork) and reads no byte of a student's.

One check, step by step:

1. The grader sends `Spawn` on its connection, with three pipe ends: requests in, replies out, output.
2. The server takes an unused user id, makes a scratch folder that belongs to this id, and forks.
3. The child takes the pipe ends, puts on the layers (`layers`), says `Ready` and answers requests (`child`). The server
   answers `Spawned` with a pidfd: from now on grader and worker talk without the server.
4. Twenty times a second the server measures each scratch folder (`quota`), and kills the worker that has written more
   than it may.
5. The grader sends `End`, or its connection closes. The server kills the worker, then every process under its user id
   (`killer`), until none is left; it removes the scratch folder and answers `Ended`.

For example, a submission forks a daemon and exits. The daemon's parent is dead, so that it becomes a child of the
server (`adopt_orphans`). At step 5 it still has the worker's user id and is killed by that; `Ended` counts it in
`leftover`. The id is given to nobody else while a process with it is alive.

The server exits when the grader says `Bye` or is gone; then it ends all workers and removes the runtime folder.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import secrets
import select
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..confinement import Placement, Prepared
from ..layers.availability import prepared
from ..layers.landlock import opened_to_all
from ..layers.privileges import make_undumpable
from ..output import Output
from ..protocol.commands import (
    COMMANDS,
    MAX_COMMAND,
    Answer,
    Bye,
    Connect,
    End,
    Ended,
    Hello,
    Refused,
    Spawn,
    Spawned,
    Warm,
    encode,
)
from ..protocol.system import adopt_orphans, children, remove_tree
from .access_times import read_all
from .forking import without_handlers
from .heap import fill_holes
from .identities import Identities
from .killer import Killer
from .processes import MOST_DESCRIPTORS, main_thread_has_ended, threads, uid_of, wait
from .quota import SECONDS as BETWEEN_LOOKS
from .quota import Maps, deleted_bytes, is_overfull

WARM = ("torch", "torch.fx.experimental.symbolic_shapes", "numpy", "regex")
# What workers see, but for HOME and TMPDIR, which are each one's own.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "USER": "student",
    "CUDA_VISIBLE_DEVICES": "-1",
}
_LINGERING_SECONDS = 30.0  # after so long a process cannot be killed, and the grader is told
_BETWEEN_KILLS = 0.02
_STOCK = 256


@dataclass
class _Worker:
    pid: int
    uid: int | None
    scratch: str | None
    scratch_bytes: int
    pidfd: int
    owner: socket.socket | None
    number: int
    ending: bool = False
    dead_since: float = 0.0
    next_kill: float = 0.0
    kills: int = 0
    overfull: bool = False
    status: int | None = None
    cpu_seconds: float = 0.0
    leftover: int = 0


class Server:
    """Serves `control` (new connections, the end) and every connection that came through it."""

    def __init__(
        self,
        control: socket.socket,
        runtime: str,
        identities: Identities,
        killer: Killer | None,
        prepared: Prepared,
        run: Callable[[Placement, Sequence[int], Output, Maps], None],
    ) -> None:
        """`run` is what a worker does once it is forked; it does not return."""
        self._control = control
        self._run = run
        self._prepared = prepared
        self._scratch = os.path.join(os.path.realpath(runtime), "scratch")
        self._stock: list[str] = []  # scratch folders for workers to come
        self._home = os.path.join(runtime, "home")
        self._identities = identities
        self._killer = killer
        self._connections: dict[int, socket.socket] = {}
        self._workers: dict[int, _Worker] = {}
        self._by_pidfd: dict[int, _Worker] = {}
        self._lingering: list[_Worker] = []
        self._poll = select.poll()
        self._output = Output(1)
        self._maps = Maps()
        self._spawned = 0
        self._next_look = 0.0

    def serve(self) -> None:
        """Until the grader says goodbye or is gone. Then nothing is left of any worker."""
        self._poll.register(self._control, select.POLLIN)
        while True:
            self._look_at_scratch()
            self._clear_away()
            for descriptor, _ in self._poll.poll(self._patience()):
                if descriptor == self._control.fileno():
                    if not self._serve_control():
                        self._end_everything()
                        return
                elif descriptor in self._connections:
                    self._serve_connection(self._connections[descriptor])
                elif descriptor in self._by_pidfd:
                    self._bury(self._by_pidfd[descriptor])

    def _serve_control(self) -> bool:
        message, descriptors = _receive(self._control)
        command = COMMANDS.decode(message) if message else Bye()
        if not isinstance(command, Connect):
            return False
        connection = socket.socket(fileno=descriptors[0])
        connection.settimeout(30.0)  # a grader that does not read must not stop the others
        self._connections[connection.fileno()] = connection
        self._poll.register(connection, select.POLLIN)
        self._tell(connection, Hello(os.getpid(), self._identities.kind, threads(), dict(self._prepared.missing)))
        return True

    def _serve_connection(self, connection: socket.socket) -> None:
        message, descriptors = _receive(connection)
        if not message:
            self._hang_up(connection)
            return
        command = COMMANDS.decode(message)
        if isinstance(command, Spawn):
            try:
                self._spawn(connection, command, descriptors)
            except Exception as error:
                self._tell(connection, Refused(f"{type(error).__name__}: {error}"))
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
        elif isinstance(command, Warm):
            warm_up(command.modules, self._home)
        elif isinstance(command, End) and command.worker in self._workers:
            self._begin_end(self._workers[command.worker])
        else:
            self._tell(connection, Refused(f"no such worker: {command}"))

    def _spawn(self, connection: socket.socket, command: Spawn, descriptors: Sequence[int]) -> None:
        if threads() != 1:
            raise RuntimeError(f"the fork server has {threads()} threads; a fork would be unsafe")
        self._maps.take_in()
        self._spawned += 1
        uid = self._identities.take()
        scratch = self._make_scratch(uid) if command.spec.scratch_bytes else None
        if uid is not None and self._killer is not None:
            self._killer.watch(uid)
        placement = Placement(command.spec, uid, scratch, self._prepared, self._spawned)
        pid = os.fork()
        if pid == 0:
            self._run(placement, descriptors, self._output, self._maps)
        if pid in self._workers:  # the one before is dead, and nobody has asked for its end yet
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError(f"process id {pid} is still in use")
        pidfd = os.pidfd_open(pid)
        worker = _Worker(pid, uid, scratch, command.spec.scratch_bytes, pidfd, connection, self._spawned)
        self._workers[pid] = worker
        self._by_pidfd[worker.pidfd] = worker
        self._tell(connection, Spawned(pid, uid), [worker.pidfd])

    def _make_scratch(self, uid: int | None) -> str:
        """A folder of a random name. They are made in stock: else the times of the folder above, which a worker can
        ask for, would tell when the worker before it began and ended."""
        if not self._stock:
            self._stock = [f"{self._scratch}/{secrets.token_hex(8)}" for _ in range(_STOCK)]
            for folder in self._stock:
                os.mkdir(folder, 0o700)
        scratch = self._stock.pop()
        if uid is not None:
            os.chown(scratch, uid, uid)
        return scratch

    def _patience(self) -> float | None:
        """Milliseconds until there is something to look at; None when there is nothing."""
        dues = [worker.next_kill - time.monotonic() for worker in self._lingering]
        if any(worker.scratch and not worker.ending for worker in self._workers.values()):
            dues.append(BETWEEN_LOOKS)
        return max(0.0, 1000 * min(dues)) if dues else None

    def _look_at_scratch(self) -> None:
        """Kill who has written too much. Its grader sees it die, and ends what it has started."""
        if time.monotonic() < self._next_look:
            return
        for worker in self._workers.values():
            if not worker.scratch or worker.ending:
                continue
            deleted = deleted_bytes(worker.pid, self._maps.of(worker.number), worker.scratch)
            overfull = is_overfull(worker.scratch, worker.scratch_bytes - deleted)
            if overfull or main_thread_has_ended(worker.pid):
                worker.overfull = overfull
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(worker.pidfd, signal.SIGKILL)
        self._next_look = time.monotonic() + BETWEEN_LOOKS

    def _begin_end(self, worker: _Worker) -> None:
        if worker.ending:
            return
        worker.ending = True
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker.pidfd, signal.SIGKILL)
        self._poll.register(worker.pidfd, select.POLLIN)

    def _bury(self, worker: _Worker) -> None:
        """The worker's process is dead: see to it that everything it started is, too, and answer."""
        self._poll.unregister(worker.pidfd)
        worker.dead_since = time.monotonic()
        self._lingering.append(worker)
        self._clear_away()

    def _clear_away(self) -> None:
        """Of every dead worker that is due, kill what is left; where that is nothing, say so."""
        for worker in [each for each in self._lingering if time.monotonic() >= each.next_kill]:
            self._reap()
            alive = self._kill_leftover(worker)
            if alive and time.monotonic() < worker.dead_since + _LINGERING_SECONDS:
                worker.kills += 1
                worker.next_kill = time.monotonic() + min(0.001 * worker.kills, _BETWEEN_KILLS)
            else:
                self._lingering.remove(worker)
                self._finish(worker, alive)

    def _finish(self, worker: _Worker, alive: bool) -> None:
        del self._workers[worker.pid], self._by_pidfd[worker.pidfd]
        os.close(worker.pidfd)
        self._maps.forget(worker.number)
        if worker.uid is not None and self._killer is not None and not alive:
            self._killer.forget(worker.uid)
        self._remove_scratch(worker.scratch)
        if worker.owner is not None:
            ended = Ended(worker.pid, worker.status or 0, worker.cpu_seconds, worker.leftover, alive, worker.overfull)
            self._tell(worker.owner, ended)

    def _kill_leftover(self, worker: _Worker) -> bool:
        """Kill what is left of `worker`. True when there was something.

        Whatever a dead worker started has become our child (`adopt_orphans`), so that looking at those is enough.
        """
        orphans = [
            pid for pid in children() if pid not in self._workers and (self._killer is None or pid != self._killer.pid)
        ]
        if worker.uid is not None and self._killer is not None:
            if not any(uid_of(pid) == worker.uid for pid in orphans):
                return False
            self._killer.kill(worker.uid)
            return True
        for pid in orphans:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        return bool(orphans)

    def _reap(self) -> None:
        """Collect every child that has ended, whosever it was."""
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if dead is None:
                return
            pid, status, usage = os.wait4(dead.si_pid, 0)
            worker = self._workers.get(pid)
            if worker is not None:
                worker.status, worker.cpu_seconds = status, usage.ru_utime + usage.ru_stime
            elif self._killer is not None and pid == self._killer.pid:
                raise ConnectionError("the killer is dead")
            else:
                self._count_leftover(dead.si_uid)

    def _count_leftover(self, uid: int) -> None:
        for worker in self._workers.values():
            if worker.ending and worker.uid in (uid, None):
                worker.leftover += 1
                return

    def _remove_scratch(self, scratch: str | None) -> None:
        """Empty it. The folder itself stays, so that the one above does not change."""
        if scratch is None:
            return
        try:
            for entry in os.scandir(scratch):
                if entry.is_dir(follow_symlinks=False):
                    _remove_tree(entry.path, self._killer)
                else:
                    os.unlink(entry.path)
        except OSError:
            _remove_tree(scratch, self._killer)

    def _hang_up(self, connection: socket.socket) -> None:
        """A grader is gone: end its workers, and tell nobody."""
        self._poll.unregister(connection)
        self._connections.pop(connection.fileno(), None)
        for worker in list(self._workers.values()):
            if worker.owner is connection:
                worker.owner = None
                self._begin_end(worker)
        connection.close()

    def _tell(self, connection: socket.socket, answer: Answer, descriptors: Sequence[int] = ()) -> None:
        try:
            socket.send_fds(connection, [encode(answer)], list(descriptors))
        except OSError:
            return  # the grader is gone; its socket says so next

    def _end_everything(self) -> None:
        for worker in list(self._workers.values()):
            worker.owner = None
            self._begin_end(worker)
        for worker in list(self._by_pidfd.values()):
            wait(worker.pidfd, 10.0)
            if worker not in self._lingering:
                self._bury(worker)
        while self._lingering:
            time.sleep(_BETWEEN_KILLS)
            self._clear_away()


def _receive(connection: socket.socket) -> tuple[bytes, list[int]]:
    try:
        message, descriptors, _, _ = socket.recv_fds(connection, MAX_COMMAND, 8)
    except ConnectionError:
        return b"", []
    return message, descriptors


def _remove_tree(folder: str, killer: Killer | None) -> None:
    """Delete a folder, however deep (what recurses in Python fails at a thousand folders)."""
    if killer is not None:
        killer.remove(folder)
    else:
        remove_tree(folder)


def _look_at_processor() -> None:
    """What torch would else find out in every worker. (It computes nothing; on a virtual machine it takes 0.3 ms.)"""
    import torch

    with contextlib.suppress(AttributeError, RuntimeError):  # a name of torch's own, there since 2.1
        torch.ops.mkldnn._is_mkldnn_bf16_supported()
    with contextlib.suppress(AttributeError, RuntimeError):  # not in every version
        torch.cpu.get_capabilities()


def _leave_functions_uncompiled() -> None:
    """`torch.compile` gives back what it is given: no worker could start the C++ compiler that it needs."""
    import torch

    def unchanged(function: Any = None, *_: Any, **__: Any) -> Any:
        return unchanged if function is None else function

    torch.compile = unchanged


def _add_builtins_of_site() -> None:
    """`exit`, `quit`, `help` and the like, which a student's Python has: the fork server starts without `site`."""
    import site

    for add in (site.setquit, site.setcopyright, site.sethelper):
        add()


def _raise_descriptor_limit() -> None:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def warm_up(modules: Sequence[str], home: str) -> bool:
    """Import `modules` here, if a copy of this process comes through it with one thread. Returns whether they were.

    `home` is the folder for what libraries write as they are imported, such as a list of fonts. It is made.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(home, 0o700)
    before = dict(os.environ)
    os.environ.update(HOME=home, TMPDIR=home)
    copy = os.fork()
    if copy == 0:
        try:
            _import(modules)
            os._exit(0 if threads() == 1 else 1)
        except BaseException:
            os._exit(2)
    came_through = os.waitpid(copy, 0)[1] == 0
    if came_through:
        _import(modules)
        gc.collect()
        gc.freeze()
    os.environ.clear()  # a library may have added to it
    os.environ.update(before)
    tempfile.tempdir = None  # each worker has a folder of its own
    return came_through


def _import(modules: Sequence[str]) -> None:
    with without_handlers():
        for name in modules:
            with contextlib.suppress(ImportError):  # it is not installed: who imports it is told
                importlib.import_module(name)


def main(control: int, runtime: str) -> None:
    """Run the fork server on the descriptor `control` until the grader is gone; then remove the folder `runtime`."""
    sys.argv = [""]
    os.umask(0o022)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    _raise_descriptor_limit()
    identities = Identities()
    outsider = identities.take()
    killer = None if outsider is None else Killer(outsider)
    os.mkdir(os.path.join(runtime, "scratch"), 0o711)
    ready = prepared(runtime)
    reading = os.fork()
    if reading == 0:  # meanwhile the libraries are loaded
        try:
            read_all(opened_to_all(runtime))
        finally:
            os._exit(0)
    adopt_orphans()
    with without_handlers():
        for name in WARM:
            importlib.import_module(name)
        child = importlib.import_module("..child", __package__)
        importlib.import_module("..global_state", __package__).seed_generators()
        with contextlib.suppress(ImportError, AttributeError):  # where it does not fit this torch, only measuring fails
            importlib.import_module("..meters.allocations", __package__)
    _look_at_processor()
    _leave_functions_uncompiled()
    _add_builtins_of_site()
    importlib.import_module("..forbidden", __package__).kernels()
    importlib.import_module(".rehearsal", __package__).rehearse()
    make_undumpable()
    os.waitpid(reading, 0)
    server = Server(socket.socket(fileno=control), runtime, identities, killer, ready, child.run)
    gc.collect()
    gc.freeze()
    fill_holes()
    try:
        server.serve()
    finally:
        _remove_tree(runtime, killer)
    sys.exit(0)
