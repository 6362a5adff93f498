"""A small process that kills by user id: forked before torch is loaded, so that its own forks cost little.

It serves the fork server alone. When that dies, it kills the workers that are still there. It knows no messages of a
worker, and has no use where workers have no user ids of their own.
"""

from __future__ import annotations

import os
import signal
import socket

from ..protocol.system import remove_tree
from .processes import MOST_DESCRIPTORS

_SECONDS = 60.0  # for any answer: nobody waits for ever on a folder that is slow to delete


class Killer:
    """The fork server's side: asks, and waits for the answer."""

    def __init__(self, outsider: int) -> None:
        """`outsider` is a user id that no worker has: the killing process takes it, so that no worker can signal it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                descriptor = os.dup2(theirs.fileno(), 3)
                os.closerange(4, MOST_DESCRIPTORS)
                _serve(socket.socket(fileno=descriptor), outsider)
            finally:
                os._exit(0)
        theirs.close()
        ours.settimeout(_SECONDS)
        self._socket = ours

    def watch(self, uid: int) -> None:
        """From now on `uid` is in use: whoever has it dies with the fork server."""
        self._socket.send(f"watch {uid}".encode())

    def kill(self, uid: int) -> None:
        """Kill every process of `uid`. They die a moment later."""
        self._ask(f"kill {uid}")

    def forget(self, uid: int) -> None:
        """Nothing of `uid` is left."""
        self._socket.send(f"forget {uid}".encode())

    def remove(self, folder: str) -> None:
        """Delete a folder with everything in it, however deep."""
        self._ask(f"remove {folder}")

    def _ask(self, request: str) -> bytes:
        self._socket.send(request.encode())
        try:
            answer = self._socket.recv(64)
        except TimeoutError:
            raise ConnectionError(f"the killer did not {request} within {_SECONDS:.0f} s") from None
        if not answer:
            raise ConnectionError("the killer is dead")
        return answer


def _serve(connection: socket.socket, outsider: int) -> None:
    watched: set[int] = set()
    while True:
        request = connection.recv(65536).decode()
        verb, _, argument = request.partition(" ")
        if verb == "watch":
            watched.add(int(argument))
        elif verb == "forget":
            watched.discard(int(argument))
        elif verb == "kill":
            _kill(int(argument), outsider)
            connection.send(b"done")
        elif verb == "remove":
            remove_tree(argument)
            connection.send(b"done")
        else:
            break
    for uid in watched:
        _kill(uid, outsider)


def _kill(uid: int, outsider: int) -> None:
    """Kill everything under `uid` at once, from a process that has the right to and that `uid` cannot signal.

    (The kernel kills all of them under one lock, so that a fork bomb does not outrun it. What it returns does not say
    whether there were any.)
    """
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(outsider, outsider, outsider)
            os.setresuid(outsider, uid, outsider)
            os.kill(-1, signal.SIGKILL)
            os._exit(0)
        except ProcessLookupError:
            os._exit(0)
        except BaseException:
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        raise PermissionError(f"could not become user {uid} to kill")
