"""Starts the fork server and has workers forked: the grader's side.

The server runs from a copy of `autograder.worker` in a runtime folder that holds nothing else, in a clean environment.
What is said to a worker is `remote`'s business; which limits a check gets is decided by who calls.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import GraderError, SoftmarkError
from ..temporary import TemporaryFolder
from ..worker import commands
from ..worker.commands import WorkerSpec
from ..worker.killer import remove_tree
from . import namespaces

if TYPE_CHECKING:
    from .remote import RemoteWorker

PACKAGE = "softmark_worker"
LIBRARIES = ("torch", "numpy", "msgspec", "regex")
_START = f"""
import sys
sys.path[:] = [entry for entry in sys.path if entry] + sys.argv[3].split(":") + [sys.argv[2]]
from {PACKAGE}.forking import without_handlers
with without_handlers():
    from {PACKAGE}.server import main
main(int(sys.argv[1]), sys.argv[2], sys.argv[4].split())
"""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
    # Freed blocks go back at once, so that the peak is what was in use. By default the threshold rises with use: an
    # honest call that needs 18 MiB then showed 288. Each large block costs a fresh mapping (0.8 s for 5,000 of 256 kB).
    "MALLOC_MMAP_THRESHOLD_": "65536",
}


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


class ForkServer:
    """A running fork server. Made by `launch`; to be closed by the process that launched it.

    Processes forked from that one may `connect` too: each its own connection.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        runtime: TemporaryFolder,
        log: BinaryIO,
        without_namespaces: str = "",
    ) -> None:
        self._process = process
        self._control = control
        self._folder = runtime
        self.runtime = runtime.path  # holds the copy of the worker's code and the workers' scratch folders
        self.without_namespaces = without_namespaces  # why there are none, if there are none
        self.pid = process.pid  # of the fork server; inside namespaces it is known when it is warm
        self._log = log
        self._owner = os.getpid()

    @classmethod
    def launch(cls, *, python: str = sys.executable, warm: Sequence[str] = ()) -> ForkServer:
        """Start a fork server and return at once; it warms up meanwhile (`wait_ready`).

        `warm` names further modules to be loaded before workers are forked (those that are not installed are left out).
        Raises `GraderError` where a library cannot be found.
        """
        folder = TemporaryFolder()
        runtime = folder.path
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = tempfile.TemporaryFile()  # noqa: SIM115  # kept open as long as the server lives
        try:
            runtime.chmod(0o711)
            _copy_worker(runtime / PACKAGE)
            with theirs:
                libraries = _library_folders(warm)
                around = namespaces.around(python, runtime, libraries)
                arguments = [str(theirs.fileno()), str(runtime), ":".join(libraries), " ".join(warm)]
                process = subprocess.Popen(
                    [*around.command, python, "-S", "-s", "-B", "-c", _START, *arguments],
                    pass_fds=[theirs.fileno()],
                    env=_ENVIRONMENT,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except BaseException:
            ours.close()
            log.close()
            folder.remove()
            raise
        return cls(process, ours, folder, log, around.missing)

    def wait_ready(self, *, seconds: float = 120.0) -> commands.Hello:
        """Wait until it is warm.

        Raises `GraderError` when it is not within `seconds`, `SoftmarkError` where workers would have the rights of
        root.
        """
        with self.connect() as connection:
            hello = connection.wait_ready(seconds=seconds)
        if hello.identities == "none" and os.geteuid() == 0:
            raise SoftmarkError(
                "Workers cannot be given a user id of their own here: this process is root but may not change ids. "
                "Run as an ordinary user, or allow CAP_SETUID and CAP_SETGID.",
                exit_code=1,
            )
        return hello

    def connect(self) -> Connection:
        """A connection of this process's own. Raises `GraderError` when the fork server is dead."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self._control, [commands.encode(commands.Connect())], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise GraderError(f"the fork server is dead ({error}){self._last_words()}; start another") from None
        return Connection(ours, self)

    def close(self) -> None:
        """End every worker and the server, remove its folder. A process forked from the owner only lets go of it."""
        if os.getpid() != self._owner:
            self._control.close()
            return
        with contextlib.suppress(OSError):
            self._control.send(commands.encode(commands.Bye()))
        self._control.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self.runtime.exists():
            remove_tree(str(self.runtime))
        self._folder.let_go()

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read(1 << 20).decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:500]}" if lines else ""

    def death(self) -> GraderError:
        """The error that says that the server is dead, with what it said last."""
        return GraderError(f"the fork server died{self._last_words()}; start another")


class Connection:
    """One grader's line to the fork server. Not to be shared with a forked process."""

    def __init__(self, line: socket.socket, server: ForkServer) -> None:
        self._line = line
        self._server = server
        self._warm = False
        self._missing: frozenset[str] = frozenset()
        self._pending: set[int] = set()
        self._ended: dict[int, commands.Ended] = {}

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
        from .remote import RemoteWorker  # loads torch, for which the launch of a server does not wait

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
            command = commands.encode(commands.Spawn(spec))
            self._send(command, [requests_end, replies_end, output_end])
            answer, descriptors = self._next_but_ended()
        except BaseException:
            for descriptor in (requests, replies, output):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (requests_end, replies_end, output_end):
                os.close(descriptor)
        if not isinstance(answer, commands.Spawned):
            for descriptor in (requests, replies, output):
                os.close(descriptor)
            raise GraderError(f"no worker could be started: {getattr(answer, 'reason', answer)}")
        worker = RemoteWorker(self, answer.worker, answer.uid, descriptors[0], requests, replies, output)
        worker.guarded = "seccomp" not in self._missing.union(limits.without)
        return worker

    def end(self, worker: int) -> None:
        """Have everything of `worker` killed; does not wait for it (`wait_ended`, `settle`)."""
        self._pending.add(worker)
        self._send(commands.encode(commands.End(worker)), [])

    def wait_ended(self, worker: int) -> commands.Ended:
        """What became of `worker`, once nothing of it is left. Raises `GraderError`."""
        while worker not in self._ended:
            answer, _ = self._receive(60.0)
            self._keep(answer)
        return self._ended.pop(worker)

    def settle(self) -> None:
        """Wait until nothing is left of any worker that was ended on this connection."""
        while self._pending:
            answer, _ = self._receive(60.0)
            self._keep(answer)
        self._ended.clear()

    def close(self) -> None:
        """Hang up: the server ends the workers of this connection."""
        self._line.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _next_but_ended(self) -> tuple[commands.Answer, list[int]]:
        while True:
            answer, descriptors = self._receive(60.0)
            if not isinstance(answer, commands.Ended):
                return answer, descriptors
            self._keep(answer)

    def _keep(self, answer: commands.Answer) -> None:
        if not isinstance(answer, commands.Ended):
            raise GraderError(f"the fork server said {answer} where the end of a worker was expected")
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


def _doing(pid: int) -> str:
    """For the log: the state of a process, where in the kernel it waits, and the same of its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    said: list[str] = []
    for each in (str(pid), *children[:8]):
        with contextlib.suppress(OSError, IndexError):
            state = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()[0]
            said.append(f"{each} {state} {Path(f'/proc/{each}/wchan').read_text()}")
    return "; ".join(said) or f"{pid} is gone"


def _copy_worker(target: Path) -> None:
    source = Path(__file__).parents[1] / "worker"
    for file in source.rglob("*.py"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


def _library_folders(warm: Sequence[str]) -> list[str]:
    """The folders that hold the libraries: what workers get of the grader's path."""
    folders: dict[str, None] = {}
    for name in (*LIBRARIES, *warm):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            folders[
                str(Path(spec.origin).parents[1] if spec.submodule_search_locations else Path(spec.origin).parent)
            ] = None
        elif name in LIBRARIES:
            raise GraderError(f"the library {name} is not installed for {sys.executable}")
    return list(folders)
