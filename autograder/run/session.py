"""A grading session: the fork server outside, the reference and the checks inside.

`Session` starts the fork server before anything secret is loaded and finds out whether workers can work here, and,
before grades that count, whether they are confined (`prove`);
`with_grader` loads the reference and the checks and hands over a `Grader`. It grades nothing itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.assignment.assignment import Assignment
from autograder.errors import GraderError, SoftmarkError
from autograder.sandbox import access_times
from autograder.sandbox.connection import Coming, Connection, Limits, wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.required import Finding, Profile, profile, refuse_missing
from autograder.sandbox.temporary import remove_left_ones

if TYPE_CHECKING:  # these load torch, for which the fork server does not wait
    from autograder.grading.grader import Grader
    from autograder.sandbox.worker import RemoteWorker

LATE = {"torch._dynamo": (b"checkpoint", b"use_deterministic_algorithms")}
"""Modules that take a second to import, and the words in a source that make torch import them in a call."""
COMPILING = 200
"""Bytes of memory that Python needs to compile a byte of a long list of numbers."""


class Session:
    """The fork server of one run, and connections to it. Use as a context manager.

    Make it before anything hidden is read: the server must never have been near it.
    """

    def __init__(self) -> None:
        self.profile: Profile = profile()
        if self.profile == "elsewhere":
            raise SoftmarkError("Workers need Linux. On this system, run your code in process: --in-process.")
        remove_left_ones()
        self.server = ForkServer.launch()
        self._identities = ""
        self._findings: list[Finding] = []
        self._allowed: frozenset[str] = frozenset()
        self._connection: Connection | None = None
        self._connected_in = 0
        self._warmed: set[str] = set()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait_ready(self) -> None:
        """Wait until the server is warm, and prove with a worker that what student code needs can be read."""
        importlib.import_module("autograder.grading.grader")  # while the server warms up; graders are forked with it
        from autograder.sandbox.probes.readable import probe

        self._identities = wait_ready(self.server).identities
        probe(self.server)

    def close(self) -> None:
        """End the fork server and every worker."""
        self.server.close()

    def findings(self, assignments: Sequence[Assignment]) -> list[Finding]:
        """What holds of each layer of the sandbox, proved by trying: with the hidden material of these assignments."""
        from autograder.sandbox.probes.proofs import prove

        hidden = [folder for each in assignments for folder in hidden_folders(each)]
        return prove(self.server, self.profile, hidden)

    def prove(self, assignment: Assignment, allowed: Sequence[str] = ()) -> None:
        """Before grades that count: prove the layers, and send the probes.

        Raises `SoftmarkError` where a layer is missing that is required and not `allowed` to be, or a probe succeeds.
        """
        from autograder.sandbox.probes import first_look

        self._findings, self._allowed = self.findings([assignment]), frozenset(allowed)
        refuse_missing(self._findings, self.profile, allowed)
        hidden = hidden_folders(assignment)
        first_look.send(self.server, _limits(assignment), hidden, [assignment.folder], allowed)

    @property
    def ids_apart(self) -> bool:
        """Whether each worker has a user id of its own, so that none can reach another."""
        return self._identities in ("high", "low")

    def layers(self) -> dict[str, str]:
        """Which layers of the sandbox are on, for staff; only what was proved is named."""
        said = {"profile": self.profile, "user ids": self._identities}
        for finding in self._findings:
            waived = ", allowed by name" if finding.layer in self._allowed and not finding.on else ""
            said[finding.layer] = f"{finding}{waived}"
        return said

    def with_grader(
        self, assignment: Assignment, work: Callable[[Grader], None], *, digest: str, answers: bytes = b""
    ) -> None:
        """Load the reference, collect the checks, and do `work` with a grader.

        `answers`, where there are any, are the reference's on the public key, as recorded.
        """
        from autograder.grading.grader import Grader
        from autograder.grading.in_place import InThisProcess
        from autograder.grading.known_mistakes import load_bank
        from autograder.grading.plugin import Checks
        from autograder.grading.pytest_session import with_checks
        from autograder.grading.recording import Recording
        from autograder.grading.reference import Reference

        reference = Reference(assignment)
        checks = Checks(assignment, reference, at_home=Recording(answers) if answers else None)
        in_place = InThisProcess(reference.worker, assignment.solutions)

        def inside() -> None:
            grader = Grader(
                assignment,
                checks,
                in_place,
                self.spawn_from(assignment),
                settle=self.settle,
                assignment_digest=digest,
                sandbox=self.layers(),
                bank=load_bank(assignment),
            )
            with grader.settled():
                work(grader)

        with_checks(checks, inside)

    def spawn_from(self, assignment: Assignment) -> Callable[[Path], Spawning]:
        """What starts workers for a folder. A fork server that broke is replaced once by a new one."""
        modules = [part.name for part in assignment.parts]
        declared = _limits(assignment)

        def from_folder(folder: Path) -> Spawning:
            self._warm({*assignment.libraries, *late_modules(folder)})
            largest = max((file.stat().st_size for file in folder.glob("*.py")), default=0)
            limits = Limits(memory_bytes=max(declared.memory_bytes, COMPILING * largest))
            still = access_times.stand_still(folder)
            return Spawning(
                self,
                lambda: self.connected().begin(folder if still else access_times.copied(folder), modules, limits),
            )

        return from_folder

    def _warm(self, modules: Collection[str]) -> None:
        """Have the fork server import what its workers will need and it has not been told of from here."""
        if not self._warmed.issuperset(modules):
            with contextlib.suppress(GraderError):  # who starts a worker finds out, and starts another server
                self.connected().warm(sorted(set(modules) - self._warmed))
            self._warmed.update(modules)

    def settle(self) -> None:
        """Wait until no process of any worker that was ended is left. Raises `GraderError` where that is not sure."""
        if self._connected_in != os.getpid() or self._connection is None:
            return
        try:
            self._connection.settle()
        except GraderError:
            self.replace_server()
            raise

    def connected(self) -> Connection:
        """This process's line to the fork server."""
        if self._connection is None or self._connected_in != os.getpid():  # a grader has a line of its own
            self._connection, self._connected_in = Connection(self.server), os.getpid()
        return self._connection

    def replace_server(self) -> None:
        """Start another fork server, and end this one."""
        self._connection, self._warmed = None, set()
        self.server.close()
        self.server = ForkServer.launch()
        wait_ready(self.server)


class Spawning:
    """Starts the workers of one folder: each when it is called, or one ahead (`prepare`)."""

    def __init__(self, session: Session, begin: Callable[[], Coming]) -> None:
        self._session = session
        self._begin = begin
        self._ahead: Coming | None = None

    def __call__(self) -> RemoteWorker:
        """A fresh worker. Raises `GraderError` where a new fork server starts none either."""
        try:
            coming = self._fetched()
            return self._begin().worker() if coming is None else coming.worker()
        except GraderError as error:
            print(f"softmark: {error}; a new fork server is started", file=sys.stderr)
        self._session.replace_server()
        return self._begin().worker()

    def prepare(self) -> None:
        """Have the next worker forked while the one of the moment works.

        Only where workers cannot reach each other: elsewhere it would be there for the one before it to tamper with.
        """
        if self._ahead is None and self._session.ids_apart:
            with contextlib.suppress(GraderError):  # who needs it finds out, and starts another server
                self._ahead = self._begin()

    def close(self) -> None:
        """End the worker that was prepared and that nobody needs."""
        with contextlib.suppress(GraderError):
            coming = self._fetched()
            if coming is not None:
                coming.worker().close()

    def _fetched(self) -> Coming | None:
        """What was prepared; None where nothing was, or with a fork server that is gone."""
        coming, self._ahead = self._ahead, None
        if coming is not None and coming.connection is not self._session.connected():
            coming.abandon()
            return None
        return coming


def late_modules(folder: Path) -> list[str]:
    """What torch imports only when it is first asked for it, where the sources in `folder` name what asks for it."""
    sources = [path.read_bytes() for path in folder.glob("*.py")]
    return [module for module, words in LATE.items() if any(word in source for word in words for source in sources)]


def hidden_folders(assignment: Assignment) -> list[Path]:
    """What workers must not read: the solutions and the hidden checks."""
    return [folder for folder in (assignment.solutions, assignment.hidden) if folder.is_dir()]


def _limits(assignment: Assignment) -> Limits:
    return Limits(memory_bytes=assignment.limits.memory_mb << 20)
