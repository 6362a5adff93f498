"""Subjects without a boundary: code in this process, and a student's own code in one process beside it.

The first is for the reference in the student's place, and for a student's code under a debugger. The second is for
`softmark check` where there is no fork: on macOS and Windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder import results
from autograder.grading.checks import Check
from autograder.grading.line import Answering, Transport
from autograder.grading.plugin import Usage
from autograder.sandbox.account import Account
from autograder.sandbox.spawned import SpawnedWorker, WorkerEnded
from autograder.student_error import StudentError
from autograder.worker.protocol.messages import CalledBack, Load, Raised, Reply, Request


def import_error(part: str, reply: Raised) -> StudentError:
    """Why the checks of a part that does not import were not run."""
    why = results.Raised(kinds=reply.kinds, message=reply.message, frames=reply.frames)
    return StudentError(results.ImportFailed(part=part, why=why))


class InThisProcess:
    """A `Subject` without a boundary: the reference in the student's place, or a student's under a debugger."""

    def __init__(self, transport: Transport, folder: Path | None = None) -> None:
        self._transport = transport
        self._folder = folder
        self._unimportable: dict[str, StudentError] = {}
        self._loaded: set[str] = set()

    def open(self, check: Check, seconds: float) -> Transport:
        """The same for all checks; a part is imported once."""
        if check.part in self._unimportable:
            raise self._unimportable[check.part].with_traceback(None)  # else it grows with each check
        if check.part not in self._loaded:
            reply = self._transport.request(Load(check.part))
            if isinstance(reply, Raised):
                self._unimportable[check.part] = error = import_error(check.part, reply)
                raise error
            self._loaded.add(check.part)
        return self._transport

    def expect(self, more: bool) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """Nothing to end."""

    def usage(self) -> Usage:
        return Usage()

    def file(self, name: str) -> bytes | None:
        path = None if self._folder is None else self._folder / name
        return path.read_bytes() if path is not None and path.is_file() else None


class InOneProcess:
    """A `Subject` in one spawned process: each check imports its part anew, and a crash or a time-out starts another.

    Seconds are of the wall clock. What hung once in a function is not waited for again.
    """

    def __init__(self, folder: Path, modules: Sequence[str]) -> None:
        self._folder, self._modules = folder, modules
        self._worker: SpawnedWorker | None = None
        self._hung: set[str] = set()
        self._opened = ""
        self._output = ""

    def open(self, check: Check, seconds: float) -> Transport:
        """The process, in which the part is imported for the first item of a check."""
        if check.part not in self._modules:
            raise StudentError(results.NotHandedIn(file=f"{check.part}.py"))
        worker = self._worker = self._worker or SpawnedWorker(self._folder, self._modules)
        if self._opened != check.number:
            self._opened = check.number
            worker.begin()
            reply = self.ask(Load(check.part, check.forbids), 60.0)
            if isinstance(reply, Raised):
                raise import_error(check.part, reply)
        return _Timed(self, seconds)

    def ask(self, message: Request, seconds: float, answer: Answering | None = None) -> Reply:
        """The reply. Raises `StudentError` where the process dies or takes longer."""
        function = getattr(getattr(message, "target", None), "name", "") or "your code"
        if function in self._hung:
            raise StudentError(results.GivenUp(function=function, times=1))
        assert self._worker is not None
        try:
            reply = self._worker.request(message, seconds)
            while isinstance(reply, CalledBack) and answer is not None:
                try:
                    resumed = answer(reply)
                except BaseException:
                    self._end()
                    raise
                reply = self._worker.request(resumed, seconds)
            return reply
        except TimeoutError:
            self._hung.add(function)
            self._end()
            raise StudentError(results.TimedOut(of="wall", seconds=seconds, function=function)) from None
        except WorkerEnded as end:
            self._end()
            raise StudentError(results.Crashed(function=function, status=end.status)) from None

    def _end(self) -> None:
        assert self._worker is not None
        self._output += self._worker.printed()
        self._worker.close()
        self._worker, self._opened = None, ""

    def expect(self, more: bool) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """The check has ended; its process stays for the next."""
        self._opened = ""

    def usage(self) -> Usage:
        printed, self._output = self._output + (self._worker.printed() if self._worker else ""), ""
        return Usage(output=printed)

    def file(self, name: str) -> bytes | None:
        path = self._folder / name
        return path.read_bytes() if path.is_file() else None

    def finish(self) -> None:
        """No check follows."""
        if self._worker is not None:
            self._worker.close()


class _Timed:
    """The transport of one item."""

    def __init__(self, subject: InOneProcess, seconds: float) -> None:
        self._subject, self._seconds = subject, 3 * seconds + 10

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        return self._subject.ask(message, self._seconds, answer)

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        return self.request(message), None
