"""How a worker can fail a call: what `RemoteWorker.request` raises beside `GraderError`.

Each is the student's fault: it happens only after the worker said that it was ready. It decides no score.
"""

from __future__ import annotations

import os
import signal
from typing import Literal

OVERFULL = "was stopped because its files grew too large"
_MEANINGS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGABRT: "aborted",
    signal.SIGBUS: "bus error",
    signal.SIGFPE: "arithmetic error in native code",
    signal.SIGILL: "illegal instruction",
    signal.SIGKILL: "killed, perhaps for want of memory",
    signal.SIGXCPU: "the limit on CPU time",
    signal.SIGSYS: "a system call that is not allowed",
}


class WorkerFailure(Exception):
    """The worker did not answer. It is ended by then, and everything it started."""


class WorkerDied(WorkerFailure):
    """The process ended during the call, or before it: `description` says how ("exited with status 0")."""

    def __init__(self, description: str) -> None:
        super().__init__(f"the process {description}")
        self.description = description


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


def described(status: int) -> str:
    """A wait status in words: "exited with status 3", "killed by SIGSEGV (segmentation fault)"."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"exited with status {code}"
    try:
        name = signal.Signals(-code)
    except ValueError:
        return f"killed by signal {-code}"
    meaning = _MEANINGS.get(name)
    return f"killed by {name.name}" + (f" ({meaning})" if meaning else "")
