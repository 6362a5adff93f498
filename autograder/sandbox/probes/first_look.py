"""Canaries: the last look before the first submission. A worker with every layer on tries what none may do.

One that succeeds stops the run. Where the proofs look at one layer each, this looks at what real workers get, with
the real folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import SoftmarkError
from autograder.sandbox.connection import Connection, Limits
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.probes.proofs import cage, inside, probe


@dataclass(frozen=True)
class _Attempt:
    """`what` is tried. Each of `guards` would stop it: it may succeed where one of them was given up by name."""

    what: str
    guards: frozenset[str]
    function: str
    args: tuple[object, ...] = ()


def send(
    server: ForkServer, limits: Limits, hidden: Sequence[Path], closed: Sequence[Path], allowed: Sequence[str]
) -> None:
    """Try everything. `hidden` may not be read, `closed` not be written; `allowed` layers have been given up.

    Raises `SoftmarkError` that says what succeeded.
    """
    with Connection(server) as connection, cage() as folder, probe(connection, folder, limits) as worker:
        for attempt in _attempts(server.pid, folder, hidden, closed):
            if attempt.guards.isdisjoint(allowed) and worker.refusal(attempt.function, *attempt.args) == "":
                raise SoftmarkError(
                    f"Nothing was graded, because student code could {attempt.what} here. "
                    "See softmark doctor for the layer that should have kept it from that.",
                    exit_code=1,
                )


def _attempts(server: int, folder: Path, hidden: Sequence[Path], closed: Sequence[Path]) -> Iterator[_Attempt]:
    files = frozenset({"user-id", "landlock", "hidden-material"})
    for path in hidden:
        yield _Attempt(f"read what is in {path}", files, "reads", tuple(inside(path)))
    for path in (folder, *closed):
        yield _Attempt(f"write into {path}", files, "writes", (str(path),))
    for pid, whose in ((os.getpid(), "grader"), (server, "fork server")):
        yield _Attempt(f"signal the {whose}", frozenset({"user-id", "seccomp"}), "signals", (pid,))
        yield _Attempt(f"read the memory of the {whose}", files, "reads", (f"/proc/{pid}/mem",))
    yield _Attempt("open a network connection", frozenset({"seccomp"}), "opens_socket")
    yield _Attempt("start processes", frozenset({"seccomp"}), "makes_process")
