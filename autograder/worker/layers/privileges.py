"""No new privileges: no program that it starts has more rights than it has; and no core, no tracing of it.

It takes away no right that the process has: that is `identity`'s business.
"""

from __future__ import annotations

import ctypes
import os
import signal

from ..confinement import Placement

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_LIBC = ctypes.CDLL(None, use_errno=True)


def put_on(placement: Placement) -> None:
    """Give up new privileges; die with the fork server. Raises `OSError`."""
    refuse_new()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    make_undumpable()


def refuse_new() -> None:
    """No program that is started from here has more rights than this process. `landlock` and `seccomp` need it."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def make_undumpable() -> None:
    """Nobody but root may look into this process."""
    _prctl(_PR_SET_DUMPABLE, 0)


def adopt_orphans() -> None:
    """Let processes whose parent has died become children of this one."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}): {os.strerror(error)}")
