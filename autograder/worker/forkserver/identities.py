"""User ids for workers, each given once, in an order that nobody can tell anything from.

High ids (from 2**30 on) where the kernel takes them; below 65536 where a user namespace maps no more; none for an
ordinary user. It sets no id: `layers.identity` does.
"""

from __future__ import annotations

import os
import random

from .processes import uid_of

_HIGH = range(1 << 30, (1 << 30) + (1 << 29))
_LOW = range(20_000, 60_000)
_DRAW = random.SystemRandom()


class Identities:
    """A supply of user ids. `kind` is "high", "low" or "none". Make it before torch is loaded: it forks to try."""

    def __init__(self) -> None:
        self.kind = "none"
        self._among = range(0)
        self._given: set[int] = set()
        if os.geteuid() != 0:
            return
        for kind, among in (("high", _HIGH), ("low", _LOW)):
            if _can_become(_DRAW.choice(among)):
                self.kind, self._among = kind, among
                break

    def take(self) -> int | None:
        """An id never given before; None where there are none to give. Raises `RuntimeError` when all are used up."""
        if self.kind == "none":
            return None
        if 2 * len(self._given) > len(self._among):
            raise RuntimeError("the user ids are used up; start another fork server")
        while (uid := _DRAW.choice(self._among)) in self._given or (self.kind == "low" and _in_use(uid)):
            continue
        self._given.add(uid)
        return uid


def _in_use(uid: int) -> bool:
    """Whether a process has this id: among few ids, another fork server's worker may."""
    return any(uid_of(pid) == uid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))))


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
