"""The kernel's account of one call: how far the process grew, read from outside, so that student code cannot forge it.

Theory of operation. A `Journal` reads the process's figures before a call and again after it, while the worker waits
for its next request. The kernel keeps a peak of the resident set (VmHWM); the grader resets it before the call by
writing 5 to /proc/<pid>/clear_refs. Where it may not (it is not root), the peak counts only if it rises above the one
before, and the resident set is polled during the call.

1. Before the call: the resident set R, and what the worker holds beyond a fresh worker, K. The baseline is R, less what
   K exceeds MOST_KEPT by. So memory hoarded before the call counts, and modules and tables of a usual size do not.
2. During the call: anonymous memory is polled every 2 ms.
3. After the call: growth = peak - baseline. Also read: bytes written to files and pipes, and whether processes were
   started. Memory hidden in these is reported, too.

For example, a fresh worker has 20 MiB of anonymous memory. Before the call a submission holds 60 MiB in a global list:
K is 60 MiB, 44 MiB more than MOST_KEPT (16 MiB). The resident set is 200 MiB, so that the baseline is 156 MiB. The call
uses the list and allocates 10 MiB: the peak is 210 MiB, and growth is 54 MiB.

The worker cannot reset its own peak, since it stays undumpable and /proc/<pid>/clear_refs belongs to root; nor hold
memory that its resident set does not show, since seccomp refuses shared memory without a file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

MOST_KEPT = 16 << 20
"""Bytes that a submission may hold between calls and that count for nothing: its modules, tables, torch's caches."""
_RESET_PEAK = b"5"  # proc(5), clear_refs: the peak resident set size becomes the current one
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Account:
    """What one call took.

    Attributes:
        growth: bytes of the largest resident set during the call, less those before it; of these counts what a fresh
            worker has, and `MOST_KEPT`. By the kernel's peak (VmHWM), or by what was seen of anonymous memory alone:
            pages of libraries can be given up while a call lasts.
        written: bytes written to files (mapped ones, too) or pipes, less those of the answer and of what was printed.
        processes: whether other processes were started.
        guarded: whether layers of the sandbox kept student code from forging it.
    """

    growth: int
    written: int
    processes: bool
    guarded: bool = True


def anonymous_bytes(pid: int) -> int:
    """Resident bytes of a process that are of no file; 0 where it has none any more. Raises `OSError`."""
    with open(f"/proc/{pid}/statm", "rb") as statm:
        _, resident, shared, *_ = statm.read().split()
    return (int(resident) - int(shared)) * _PAGE


class Journal:
    """Figures of process `pid` at the start of a call. `fresh` are its anonymous bytes before any student code ran.

    Raises `OSError` where they cannot be had; `ProcessLookupError` where the process, or its main thread alone, has
    ended: then nobody can.
    """

    def __init__(self, pid: int, fresh: int) -> None:
        self._proc = f"/proc/{pid}"
        self._pid = pid
        self._children = self._waited_for()
        self._written, self._stored = self._bytes_written()
        self._peak = 0 if self._reset_peak() else self._status("VmHWM")
        anonymous = anonymous_bytes(pid)
        kept = max(0, anonymous + self._mapped() - fresh - MOST_KEPT)
        self._before = self._status("VmRSS") - kept
        self._anonymous = anonymous - kept
        self._most = 0

    def look(self) -> None:
        """See how much anonymous memory there is at this moment. Raises `OSError`."""
        self._most = max(self._most, anonymous_bytes(self._pid))

    def read(self, answered: int) -> Account:
        """The account of the call, which wrote an answer (and printed text) of `answered` bytes. Raises `OSError`."""
        self.look()
        peak = self._status("VmHWM")
        growth = max(peak - self._before if peak > self._peak else 0, self._most - self._anonymous)
        written, stored = self._bytes_written()
        written = max(written - self._written - answered, stored - self._stored)
        processes = self._waited_for() != self._children or self._has_children()
        return Account(max(0, growth), max(0, written), processes)

    def _mapped(self) -> int:
        """Bytes of files that it may write and has mapped; 0 where this process may not look."""
        try:
            return writable_file_bytes(self._pid)
        except PermissionError:
            return 0

    def _reset_peak(self) -> bool:
        """Whether the peak could be made to begin now."""
        try:
            descriptor = os.open(f"{self._proc}/clear_refs", os.O_WRONLY)
        except PermissionError:
            return False
        try:
            os.write(descriptor, _RESET_PEAK)
        finally:
            os.close(descriptor)
        return True

    def _status(self, name: str) -> int:
        with open(f"{self._proc}/status", encoding="utf-8", errors="replace") as status:
            for line in status:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) << 10
        raise ProcessLookupError(f"{self._proc}/status has no {name}: the process has ended")

    def _bytes_written(self) -> tuple[int, int]:
        """Bytes passed to write(2) and its kind so far, and bytes of files changed; 0 where the kernel tells none."""
        try:
            with open(f"{self._proc}/io", encoding="utf-8") as io:
                counts = dict(line.split(":") for line in io if ":" in line)
        except (FileNotFoundError, PermissionError):
            return 0, 0
        return int(counts.get("wchar", 0)), int(counts.get("write_bytes", 0))

    def _waited_for(self) -> int:
        """Page faults of children that have ended (stat's cminflt): it moves when there was one."""
        with open(f"{self._proc}/stat", encoding="utf-8", errors="replace") as stat:  # its name is its own choice
            return int(stat.read().rpartition(")")[2].split()[8])

    def _has_children(self) -> bool:
        for thread in os.listdir(f"{self._proc}/task"):
            try:
                with open(f"{self._proc}/task/{thread}/children", encoding="utf-8") as children:
                    if children.read().strip():
                        return True
            except FileNotFoundError:  # the thread has ended, or the kernel keeps no such list
                continue
        return False


def writable_file_bytes(pid: int) -> int:
    """Resident bytes of files that the process may write through a shared mapping, dirty or not. Raises `OSError`.

    A file that was mapped and filled before a call can be used in the call, and the resident set does not move. It
    cannot tell what of the fork server's memory a worker has written over: honest imports do that to some 60 MiB.
    """
    found = resident = 0
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        for line in smaps:  # of each mapping its range, then its figures, the flags last
            name, _, said = line.partition(b":")
            if name == b"Rss":
                resident = int(said.split()[0])
            elif name == b"VmFlags" and {b"ms", b"mw"} <= {*said.split()}:  # may be, also where it is not just now
                found += resident
    return found << 10
