"""Carries out one function in a forked process with limits of memory and time, and hands its answer back as bytes.

What students hand in is read there: an archive or a notebook can be made to take a reader's time and memory, and the
grader has others to grade. It keeps its user id, since the files of a submission may be that user's alone. On systems
other than Linux, where a student reads what is their own, the function runs in this process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable

MEMORY = 1 << 30
"""Bytes beyond what the process has when it is forked."""
CPU_SECONDS = 60
WALL_SECONDS = 600.0
LARGEST_ANSWER = 512 << 20
_CHUNK = 1 << 20


class LimitReached(Exception):
    """The process gave no whole answer: it ran out of memory or of time, or died."""


def in_limited_process(work: Callable[[], bytes]) -> bytes:
    """What `work` returns. It must not raise, and what it changes stays there. Raises `LimitReached`."""
    if sys.platform != "linux":
        return work()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(work, read, write)
    os.close(write)
    try:
        answer = _read(read, time.monotonic() + WALL_SECONDS)
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)  # it has answered, or is too late
        status = os.waitpid(child, 0)[1]
    if not answer.endswith(b"\n"):
        raise LimitReached(f"it ended with status {status} after {len(answer):,} bytes")
    return answer[:-1]


def _answer(work: Callable[[], bytes], read: int, write: int) -> None:
    """Be the process. The last byte says that the answer is whole. Never returns."""
    try:
        os.close(read)
        gc.disable()  # what the parent holds is not looked at, and so not copied
        _limit()
        with os.fdopen(write, "wb") as file:
            file.write(work())
            file.write(b"\n")
    finally:
        os._exit(0)


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ceiling = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = _address_space() + MEMORY
    if ceiling == resource.RLIM_INFINITY or memory < ceiling:
        resource.setrlimit(resource.RLIMIT_AS, (memory, ceiling))


def _address_space() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _read(descriptor: int, deadline: float) -> bytes:
    answer = bytearray()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while len(answer) <= LARGEST_ANSWER and poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))):
        block = os.read(descriptor, _CHUNK)
        if not block:
            return bytes(answer)
        answer += block
    return b""
