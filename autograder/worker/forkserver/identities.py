"""User ids for workers, each given once.

High ids (from 2**30 on) where the kernel takes them; below 65536 where a user namespace maps no more; none for an
ordinary user. It sets no id: `layers.identity` does.
"""

from __future__ import annotations

import os
import random

_HIGH = range(1 << 30, (1 << 30) + (1 << 29))
_LOW = range(20_000, 60_000)


class Identities:
    """A supply of user ids. `kind` is "high", "low" or "none". Make it before torch is loaded: it forks to try."""

    def __init__(self) -> None:
        self.kind = "none"
        self._free = range(0)
        if os.geteuid() != 0:
            return
        for kind, among in (("high", _HIGH), ("low", _LOW)):
            start = random.SystemRandom().randrange(among.start, among.stop - (len(among) >> 2))
            if _can_become(start):
                self.kind, self._free = kind, range(start, among.stop)
                break

    def take(self) -> int | None:
        """An id never given before; None where there are none to give. Raises `RuntimeError` when all are used up."""
        if self.kind == "none":
            return None
        if not self._free:
            raise RuntimeError("all user ids are used up; start another fork server")
        uid, self._free = self._free[0], self._free[1:]
        return uid


def _can_become(uid: int) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
