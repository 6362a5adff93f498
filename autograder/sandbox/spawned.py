"""A worker in a process that is spawned, not forked, for systems without fork servers. It confines nothing.

Both sides speak in the frames of `worker.protocol`. The process imports torch once, and the student's files anew for
each check (`begin`).
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from autograder.worker.protocol.messages import CalledBack, Reply, Request, Resume
from autograder.worker.protocol.wire import decode_reply, encode

_MOST_PRINTED = 1 << 20


class WorkerEnded(Exception):
    """The process ended while it was asked; `status` is its exit code, or the signal's number below 0."""

    def __init__(self, status: int) -> None:
        super().__init__(f"exit code {status}")
        self.status = status


class SpawnedWorker:
    """The parts `modules` in `folder`, in a process of their own."""

    def __init__(self, folder: Path, modules: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, str(folder), list(modules)), daemon=True)
        self._process.start()
        theirs.close()
        self._printed = ""

    def begin(self) -> None:
        """Forget what was imported and made before."""
        with contextlib.suppress(OSError):  # who asks next finds out
            self._line.send_bytes(b"")

    def request(self, message: Request, seconds: float) -> Reply:
        """The reply. Raises `TimeoutError` after so many seconds, `WorkerEnded`, `Unencodable`."""
        frame = b"".join(encode(message))
        try:
            self._line.send_bytes(frame)
            if not self._line.poll(seconds):
                raise TimeoutError
            self._printed = (self._printed + self._line.recv_bytes().decode())[:_MOST_PRINTED]
            return decode_reply(bytearray(self._line.recv_bytes()))
        except (EOFError, ConnectionError):
            self._process.join(5)
            raise WorkerEnded(self._process.exitcode or 0) from None

    def printed(self) -> str:
        """What student code has printed since this was asked last."""
        printed, self._printed = self._printed, ""
        return printed

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._line.close()


def _serve(line: Connection, folder: str, modules: list[str]) -> None:
    """What the process does: answer until nobody asks."""
    from autograder.sandbox.in_process import InProcessWorker
    from autograder.worker.protocol.wire import decode_request

    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # as where it is graded; torch looks when a GPU is asked for
    os.chdir(folder)
    worker = InProcessWorker(folder, modules)

    def ask(called: CalledBack) -> Resume:
        line.send_bytes(b"")
        line.send_bytes(b"".join(encode(called)))
        resumed = decode_request(bytearray(line.recv_bytes()))
        assert isinstance(resumed, Resume)
        return resumed

    while True:
        try:
            frame = line.recv_bytes()
        except EOFError:
            return
        if not frame:
            worker = InProcessWorker(folder, modules)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            reply = worker.request(decode_request(bytearray(frame)), ask)
        line.send_bytes(printed.getvalue()[:_MOST_PRINTED].encode("utf-8", "backslashreplace"))
        line.send_bytes(b"".join(encode(reply)))
