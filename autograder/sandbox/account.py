"""The kernel's account of one call: how far the process grew, read from outside while student code could not forge it.

`Ledger` is opened before a call and read after it, while the worker waits. Memory that was hidden elsewhere is
accounted too: bytes written to files, and whether other processes were started. The worker must not be able to reset
its own peak: other layers see to that (it stays undumpable, so /proc/<pid>/clear_refs belongs to root). It sets no
limit.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_RESET_PEAK = b"5"  # proc(5), clear_refs: the peak resident set size becomes the current one


@dataclass(frozen=True)
class Account:
    """What one call took.

    Attributes:
        growth: bytes of the largest resident set during the call (VmHWM), less those before it (VmRSS).
        written: bytes written to files or pipes, less those of the answer and of what was printed.
        processes: whether other processes were started.
    """

    growth: int
    written: int
    processes: bool


class Ledger:
    """Figures of process `pid` at the start of a call. Raises `OSError` where they cannot be had, or not be reset."""

    def __init__(self, pid: int) -> None:
        self._proc = f"/proc/{pid}"
        self._pid = pid
        self._children = self._waited_for()
        self._written = self._bytes_written()
        descriptor = os.open(f"{self._proc}/clear_refs", os.O_WRONLY)
        try:
            os.write(descriptor, _RESET_PEAK)
        finally:
            os.close(descriptor)
        self._before = self._status("VmRSS")

    def read(self, answered: int) -> Account:
        """The account of the call, which wrote an answer (and printed text) of `answered` bytes. Raises `OSError`."""
        growth = self._status("VmHWM") - self._before
        written = self._bytes_written() - self._written - answered
        processes = self._waited_for() != self._children or self._has_children()
        return Account(max(0, growth), max(0, written), processes)

    def _status(self, name: str) -> int:
        with open(f"{self._proc}/status", encoding="utf-8") as status:
            for line in status:
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) << 10
        raise ProcessLookupError(f"{self._proc}/status has no {name}: the process has ended")

    def _bytes_written(self) -> int:
        """Bytes passed to write(2) and its kind so far; 0 where the kernel does not count."""
        try:
            with open(f"{self._proc}/io", encoding="utf-8") as io:
                return next((int(line.split()[1]) for line in io if line.startswith("wchar:")), 0)
        except FileNotFoundError:
            return 0

    def _waited_for(self) -> int:
        """Page faults of children that have ended (stat's cminflt): it moves when there was one."""
        with open(f"{self._proc}/stat", encoding="utf-8") as stat:
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
