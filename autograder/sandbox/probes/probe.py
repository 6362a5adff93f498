"""What proofs and probes run in a worker: each function tries one thing that must be refused.

It returns "" when the thing was done, else what refused it ("PermissionError: [Errno 1] ..."). It is handed to a worker
as a submission, so it imports the standard library alone, and it never runs in the grader. It undoes what it could do.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable

_PR_GET_NO_NEW_PRIVS = 39
_PR_SET_DUMPABLE = 4


def _tried(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


def reads(*paths: str) -> str:
    """Open any of them: a file, or a folder, which is listed. What is said is of the last one."""
    refusal = ""
    for path in paths:
        refusal = _tried(lambda path=path: os.listdir(path) if os.path.isdir(path) else open(path, "rb").close())
        if refusal == "":
            return ""
    return refusal


def writes(folder: str) -> str:
    """Make a file in `folder`."""

    def write() -> None:
        made = os.path.join(folder, f"softmark-probe-{os.getpid()}")
        open(made, "xb").close()
        os.unlink(made)

    return _tried(write)


def signals(pid: int) -> str:
    """Ask whether `pid` could be signalled; no signal is sent."""
    return _tried(lambda: os.kill(pid, 0))


def limits(pid: int) -> str:
    """Ask for a limit of another process."""
    return _tried(lambda: resource.prlimit(pid, resource.RLIMIT_CPU))


def opens_socket() -> str:
    """A socket of the internet, and one of this machine."""

    def open_sockets() -> None:
        for family in (socket.AF_INET, socket.AF_UNIX):
            socket.socket(family).close()

    return _tried(open_sockets)


def connects(port: int) -> str:
    """Open a connection to a port of this machine, on which somebody listens."""
    return _tried(lambda: socket.create_connection(("127.0.0.1", port), timeout=5).close())


def makes_process() -> str:
    """Make a process."""

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    return _tried(fork)


def executes() -> str:
    """Become another program: this Python, so that the worker would be gone."""
    return _tried(lambda: os.execv(sys.executable or "/bin/true", ["true"]))


def shares_memory() -> str:
    """Make memory that has no file."""
    return _tried(lambda: os.close(os.memfd_create("probe")))


def becomes_dumpable() -> str:
    """Let others, and itself, look into this process."""
    libc = ctypes.CDLL(None, use_errno=True)

    def become() -> None:
        if libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")

    return _tried(become)


def leaves_daemon() -> int:
    """Start a process that outlives this one, and return its id."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child:
            os.write(write, str(child).encode())
            os._exit(0)
        while True:
            time.sleep(600)
    return int(os.read(read, 20))


def user() -> tuple[int, int, list[int]]:
    """User id, group id, other groups."""
    return os.geteuid(), os.getegid(), os.getgroups()


def may_gain_privileges() -> bool:
    """Whether a program that it starts could have more rights than it has."""
    return ctypes.CDLL(None).prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1


def environment() -> dict[str, str]:
    """All of it."""
    return dict(os.environ)


def open_files() -> int:
    """How many descriptors are open."""
    return sum(_tried(lambda number=number: os.fstat(number)) == "" for number in range(1100))


def takes_memory(size: int) -> str:
    """Map `size` bytes."""
    return _tried(lambda: mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close())


def holds_memory(size: int) -> int:
    """Fill `size` bytes, for a moment."""
    return len(b"x" * size)


def writes_one_file(size: int) -> str:
    """Write one file of `size` bytes."""

    def write() -> None:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(size))

    return _tried(write)


def opens_many(count: int) -> str:
    """Have `count` files open at once."""

    def open_them() -> None:
        held = [os.open("/dev/null", os.O_RDONLY)]
        try:
            while len(held) < count:
                held.append(os.dup(held[0]))
        finally:
            for descriptor in held:
                os.close(descriptor)

    return _tried(open_them)


def fills(size: int) -> None:
    """Write files of `size` bytes and never stop."""
    number = 0
    while True:
        number += 1
        with open(f"fill-{number % 1000}", "wb") as file:
            file.write(bytes(size))
