"""No new privileges: no program that it starts has more rights than it has; and no core, no tracing of it.

It takes away no right that the process has: that is `identity`'s business.
"""

from __future__ import annotations

import signal

from ..confinement import Placement
from ..protocol.system import prctl

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def put_on(placement: Placement) -> None:
    """Give up new privileges; die with the fork server. Raises `OSError`."""
    refuse_new()
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    make_undumpable()


def refuse_new() -> None:
    """No program that is started from here has more rights than this process. `landlock` and `seccomp` need it."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def make_undumpable() -> None:
    """Nobody but root may look into this process."""
    prctl(_PR_SET_DUMPABLE, 0)
