"""One fork server for the tests of this folder, and folders that its workers can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.run.session import Session
from autograder.sandbox.connection import Connection, Limits
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.messages import Call, Reply, Returned, Target

LIMITS = Limits(memory_bytes=128 << 20, cpu_seconds=20, scratch_bytes=1 << 20)
FORKING = replace(LIMITS, without=("seccomp",))  # what a machine without seccomp lets student code do


class Workers:
    """Starts workers on source code, and sees to it that none is left."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.connection = connection
        self.folder = folder
        self._started: list[RemoteWorker] = []

    def start(self, source: str, limits: Limits = LIMITS, **files: str) -> RemoteWorker:
        (self.folder / "part.py").write_text(source)
        for name, content in files.items():
            (self.folder / name.replace("__", ".")).write_text(content)
        worker = self.connection.spawn(self.folder, ["part"], limits)
        self._started.append(worker)
        return worker

    def close(self) -> None:
        for worker in self._started:
            worker.close()
        self.connection.settle()


def call(worker: RemoteWorker, name: str, *args: object, cpu: float = 10.0, wall: float = 60.0) -> Reply:
    """The reply to a call of `part.name`."""
    return worker.request(Call(Target(name, "part"), args), cpu_seconds=cpu, wall_seconds=wall)


def value(reply: Any) -> Any:
    """What a call came back with."""
    assert isinstance(reply, Returned), reply
    return reply.value


@pytest.fixture(scope="module")
def server(session: Session) -> ForkServer:
    return session.server


@pytest.fixture
def workers(server: ForkServer, open_folder: Path) -> Iterator[Workers]:
    old = os.umask(0o022)
    with Connection(server) as connection:
        started = Workers(connection, open_folder)
        yield started
        started.close()
    os.umask(old)


@pytest.fixture
def start(workers: Workers) -> Callable[..., RemoteWorker]:
    return workers.start
