"""Starts the fork server and ends it: the grader's side.

The server runs from a copy of `autograder.worker` in a runtime folder that holds nothing else, in a clean environment.
`connect` returns a socket; `sandbox.connection` says what goes over it. Nothing here imports torch, so that the server
starts first.
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
from pathlib import Path
from typing import BinaryIO

from autograder.errors import GraderError
from autograder.sandbox import control_groups, namespaces
from autograder.sandbox.control_groups import ControlGroup
from autograder.sandbox.temporary import TemporaryFolder
from autograder.worker.protocol import commands
from autograder.worker.protocol.system import remove_tree

PACKAGE = "softmark_worker"
LIBRARIES = ("torch", "numpy", "msgspec", "regex")
_START = f"""
import sys
sys.path[:] = [entry for entry in sys.path if entry] + sys.argv[3].split(":") + [sys.argv[2]]
from {PACKAGE}.forkserver.forking import without_handlers
with without_handlers():
    from {PACKAGE}.forkserver.server import main
main(int(sys.argv[1]), sys.argv[2])
"""
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "-1",  # a grade is the same with a GPU and without
    "PYTHONHASHSEED": "0",
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
    # Freed blocks go back at once, so that the peak is what was in use. By default the threshold rises with use: an
    # honest call that needs 18 MiB then showed 288. Each large block costs a fresh mapping (0.8 s for 5,000 of 256 kB).
    "MALLOC_MMAP_THRESHOLD_": "65536",
}


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
        group: ControlGroup | None = None,
    ) -> None:
        self._process = process
        self._control = control
        self._folder = runtime
        self.runtime = runtime.path  # holds the copy of the worker's code and the workers' scratch folders
        self.without_namespaces = without_namespaces  # why there are none, if there are none
        self.group = group or ControlGroup()
        self.pid = process.pid  # of the fork server; inside namespaces it is known when it is warm
        self._log = log
        self._owner = os.getpid()

    @classmethod
    def launch(cls, *, python: str = sys.executable) -> ForkServer:
        """Start a fork server and return at once; it warms up meanwhile (`connection.wait_ready`).

        Raises `GraderError` where a library cannot be found.
        """
        folder = TemporaryFolder()
        runtime = folder.path
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        log = tempfile.TemporaryFile()  # noqa: SIM115  # kept open as long as the server lives
        group = control_groups.made()
        try:
            runtime.chmod(0o711)
            _copy_worker(runtime / PACKAGE)
            with theirs:
                libraries = _library_folders()
                around = namespaces.around(python, runtime, libraries)
                arguments = [str(theirs.fileno()), str(runtime), ":".join(libraries)]
                process = subprocess.Popen(
                    [*group.command, *around.command, python, "-S", "-s", "-B", "-c", _START, *arguments],
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
            group.remove()
            raise
        return cls(process, ours, folder, log, around.missing, group)

    def connect(self) -> socket.socket:
        """A socket of this process's own to the fork server, for a `Connection`.

        Raises `GraderError` when the fork server is dead.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                socket.send_fds(self._control, [commands.encode(commands.Connect())], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise GraderError(f"the fork server is dead ({error}){self._last_words()}; start another") from None
        return ours

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
        self.group.remove()

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


def _copy_worker(target: Path) -> None:
    source = Path(__file__).parents[1] / "worker"
    for file in source.rglob("*.py"):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())


def _library_folders() -> list[str]:
    """The folders that hold the libraries: what workers get of the grader's path."""
    folders: dict[str, None] = {}
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise GraderError(f"the library {name} is not installed for {sys.executable}")
        folders[str(Path(spec.origin).parents[1] if spec.submodule_search_locations else Path(spec.origin).parent)] = (
            None
        )
    return list(folders)
