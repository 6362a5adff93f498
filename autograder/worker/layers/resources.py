"""The kernel's limits: memory, CPU time, processes, files.

Memory is what the process had at the fork and an allowance, so that it does not depend on the size of the libraries.
The limit that decides about CPU time is the grader's; this one is its back-stop. It limits no disk as a whole, only
the size of one file.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator

from ..confinement import Placement

RESERVE = (
    16 << 20
)  # between the soft and the hard limit of memory: what a worker takes to say that it has no memory left
_ORDINARY_USER_PROCESSES = 512
_SIGNALS = 256  # that wait, and timers: some 100,000 by default, in memory of the kernel's
_PAGE = os.sysconf("SC_PAGE_SIZE")
STATM = 1002  # the descriptor of /proc/self/statm, beside those of the lines: opened before a layer closes /proc


def put_on(placement: Placement) -> None:
    """Set every limit, soft and hard. Raises `OSError` or `ValueError`."""
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    if statm != STATM:
        os.dup2(statm, STATM, False)
        os.close(statm)
    spec = placement.spec
    for name, soft, hard in _limits(placement):
        _set(name, soft, hard)
    if spec.memory_bytes:
        limit = _address_space() + spec.memory_bytes
        _set(resource.RLIMIT_AS, limit, limit + RESERVE)


def _limits(placement: Placement) -> Iterator[tuple[int, int, int]]:
    spec = placement.spec
    yield resource.RLIMIT_CORE, 0, 0
    yield resource.RLIMIT_CPU, spec.cpu_seconds, spec.cpu_seconds + 1
    yield resource.RLIMIT_FSIZE, spec.scratch_bytes, spec.scratch_bytes
    yield resource.RLIMIT_NOFILE, spec.open_files, spec.open_files
    if placement.uid is not None:
        yield resource.RLIMIT_NPROC, spec.processes, spec.processes
    elif os.geteuid() != 0:
        processes = _processes_of_this_user() + max(spec.processes, _ORDINARY_USER_PROCESSES)
        yield resource.RLIMIT_NPROC, processes, processes
    yield resource.RLIMIT_MEMLOCK, 0, 0
    if hasattr(resource, "RLIMIT_SIGPENDING"):
        yield resource.RLIMIT_SIGPENDING, _SIGNALS, _SIGNALS
    for name in ("RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"):
        if hasattr(resource, name):
            yield getattr(resource, name), 0, 0


def _set(name: int, soft: int, hard: int) -> None:
    """Set a limit; where the process has a lower one already, that stays."""
    ceiling = resource.getrlimit(name)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(name, (soft, hard))


def _address_space() -> int:
    """The bytes of address space that this process has mapped."""
    return int(os.pread(STATM, 100, 0).split()[0]) * _PAGE


class StreamMemory:
    """Lowers the limit of memory while a stream is open, so that it holds all the while.

    For a process that has the limits on. The hard limit is lowered too, and for good: student code can raise its limit
    by `RESERVE` and no more. So what comes after the stream in the same worker has no more memory than that either.
    """

    def __init__(self) -> None:
        self._soft: int | None = None

    def lower(self, allowance: int) -> None:
        """At most `allowance` bytes more than the process has now."""
        self.restore()
        self._soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = _address_space() + allowance
        hard = _lower(limit + RESERVE, hard)
        resource.setrlimit(resource.RLIMIT_AS, (min(_lower(limit, self._soft), hard), hard))

    def restore(self) -> None:
        """The limit that held before; nothing where none was lowered."""
        if self._soft is not None:
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (_lower(hard, self._soft), hard))
            self._soft = None


def _lower(limit: int, other: int) -> int:
    return limit if other == resource.RLIM_INFINITY else min(limit, other)


def relieve() -> None:
    """Give up the reserve, so that a last message can be made."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _processes_of_this_user() -> int:
    """Processes and threads: what RLIMIT_NPROC counts."""
    uid, count = os.getuid(), 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += os.stat(f"/proc/{entry.name}/task").st_nlink - 2
            except OSError:
                continue
    return count
