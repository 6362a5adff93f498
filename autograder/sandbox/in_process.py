"""A worker without a process: the same requests, carried out here, for `--in-process` and for the reference.

Values cross the same wire as to a forked worker (they are encoded and decoded), so that nothing is shared and nothing
passes here that would not pass there. There is no confinement and no limit: never for a submission of somebody else's.

This is the only trusted module that imports the worker's executor. Everything else imports `worker.protocol` alone.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from autograder.sandbox.account import Account
from autograder.worker.executor import Executor, unreadable
from autograder.worker.loader import Loader
from autograder.worker.protocol.messages import CalledBack, Reply, Request, Resume
from autograder.worker.protocol.wire import Unencodable, decode_reply, decode_request, encode


@contextlib.contextmanager
def in_folder(folder: Path | None) -> Generator[None]:
    """Be in that folder meanwhile, as a student is who runs a part; None changes nothing."""
    if folder is None:
        yield
        return
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


class InProcessWorker:
    """The parts `modules` in `folder`, in this process; of several with one `loader` each keeps its own objects.

    Files are opened by bare names in the folder `at`; None: where this process is.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        modules: Sequence[str],
        loader: Loader | None = None,
        at: Path | None = None,
    ) -> None:
        self.loader = loader or Loader(folder, modules, at)
        self._at = at
        self.cpu_seconds = 0.0
        self.wall_seconds = 0.0
        self._executor = Executor(self.loader)

    def request(
        self,
        message: Request,
        answer: Callable[[CalledBack], Resume] | None = None,
        *,
        cpu_seconds: float = 0.0,
        wall_seconds: float = 0.0,
    ) -> Reply:
        """The reply to `message`; limits are not kept. `answer` carries callbacks out.

        Raises `Unencodable` for what cannot be passed on, and what a callback raised.
        """
        private = decode_request(bytearray().join(encode(message)))
        started, cpu_before = time.monotonic(), time.process_time()
        failed: list[BaseException] = []

        def ask(called: CalledBack) -> Resume:
            assert answer is not None
            arrived = decode_reply(bytearray().join(encode(called)))
            assert isinstance(arrived, CalledBack)
            try:
                resumed = decode_request(bytearray().join(encode(answer(arrived))))
            except BaseException as error:
                failed.append(error)
                raise
            assert isinstance(resumed, Resume)
            return resumed

        self._executor.ask = None if answer is None else ask
        with in_folder(self._at):
            reply = self._executor.carry_out(private)
        self._executor.ask = None
        if failed:
            raise failed[0]
        self.wall_seconds += time.monotonic() - started
        self.cpu_seconds += time.process_time() - cpu_before
        try:
            try:
                return decode_reply(bytearray().join(encode(reply)))
            except Unencodable as error:
                with self.loader.installed():
                    readable = self._executor.readable(reply)
                return decode_reply(bytearray().join(encode(readable or unreadable(error))))
        except Unencodable as error:
            return unreadable(error)

    def weigh(
        self, message: Request, *, cpu_seconds: float = 0.0, wall_seconds: float = 0.0
    ) -> tuple[Reply, Account | None]:
        """As `request`: the memory of one call cannot be told from this process's own."""
        return self.request(message), None

    @property
    def output(self) -> str:
        """Nothing: what is printed goes to the terminal."""
        return ""

    def close(self) -> None:
        """Nothing to end."""
