"""How a worker can fail a call: what `RemoteWorker.request` raises beside `GraderError`.

Each is the student's fault: it happens only after the worker said that it was ready. It decides no score.
"""

from __future__ import annotations

import os
import signal
from typing import Literal

_MEANINGS = {
    "SIGSEGV": "segmentation fault",
    "SIGABRT": "aborted",
    "SIGBUS": "bus error",
    "SIGFPE": "arithmetic error in native code",
    "SIGILL": "illegal instruction",
    "SIGKILL": "killed, perhaps for want of memory",
    "SIGXCPU": "the limit on CPU time",
    "SIGSYS": "a system call that is not allowed",
}


class WorkerFailure(Exception):
    """The worker did not answer. It is ended by then, and everything it started."""


class WorkerDied(WorkerFailure):
    """The process ended during the call, or before it.

    Attributes:
        description: how, in words: "exited with status 0", "killed by SIGSEGV (segmentation fault)".
        signal: the name of the signal that ended it, or "".
        status: its exit status, 0 where a signal ended it.
        overfull: whether it was ended because its files grew too large.
    """

    def __init__(self, wait_status: int, overfull: bool = False) -> None:
        code = os.waitstatus_to_exitcode(wait_status)
        self.overfull, self.status, self.signal = overfull, max(code, 0), _name_of(-code) if code < 0 else ""
        meaning = f" ({_MEANINGS[self.signal]})" if self.signal in _MEANINGS else ""
        self.description = f"killed by {self.signal}{meaning}" if self.signal else f"exited with status {self.status}"
        if overfull:
            self.description = "was stopped because its files grew too large"
        super().__init__(f"the process {self.description}")


class TimedOut(WorkerFailure):
    """The call used more than `seconds` of CPU time, or took more than `seconds` of wall time."""

    def __init__(self, kind: Literal["cpu", "wall"], seconds: float) -> None:
        of = "of computing time" if kind == "cpu" else "of waiting"
        super().__init__(f"no answer after {seconds:g} s {of}")
        self.kind: Literal["cpu", "wall"] = kind
        self.seconds = seconds


class ProtocolBroken(WorkerFailure):
    """What came back is no answer: student code wrote to, or closed, what the worker answers through."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReturnedTooMuch(ProtocolBroken):
    """More bytes came back than this worker may return in all: a check may keep all that it is given."""

    def __init__(self) -> None:
        super().__init__("it returned more than it may in all")


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
