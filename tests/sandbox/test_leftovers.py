"""What a worker leaves behind ends with it, and what it may not reach."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from autograder.sandbox.deaths import WorkerDied
from tests.sandbox.conftest import FORKING, LIMITS, Workers, call, value

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs user ids of its own")


DAEMON = """
import os, time
def daemon():
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child:
            os.write(write, str(child).encode())
            os._exit(0)
        while True:
            time.sleep(600)
    return int(os.read(read, 20))
"""


def test_a_daemon_dies_with_its_worker(workers: Workers) -> None:
    worker = workers.start(DAEMON, FORKING)
    daemon = value(call(worker, "daemon"))
    os.kill(daemon, 0)
    worker.close()
    workers.connection.settle()
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_a_daemon_dies_after_its_worker_has_crashed(workers: Workers) -> None:
    worker = workers.start(DAEMON + "def dies():\n    os._exit(0)\n", FORKING)
    daemon = value(call(worker, "daemon"))
    with pytest.raises(WorkerDied):
        call(worker, "dies")
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_one_workers_end_leaves_the_other_alone(workers: Workers) -> None:
    source = DAEMON + "def one():\n    return 1\n"
    first, second = workers.start(source, FORKING), workers.start(source, FORKING)
    value(call(first, "daemon"))
    assert value(call(second, "one")) == 1
    first.close()
    workers.connection.settle()
    assert value(call(second, "one")) == 1


def test_what_lies_in_the_scratch_folder_goes_with_its_worker_however_deep(workers: Workers) -> None:
    source = """
import os
def digs():
    home = os.getcwd()
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    open("file", "w").close()
    return home
"""
    worker = workers.start(source, replace(LIMITS, scratch_bytes=64 << 20))  # folders count, too
    home = value(call(worker, "digs"))
    assert os.path.isdir(home)
    worker.close()
    workers.connection.settle()
    assert os.listdir(home) == []  # itself it stays, so that the times of the folder above tell nothing


@as_root
def test_a_worker_cannot_touch_the_grader_or_the_fork_server(workers: Workers) -> None:
    source = """
import os, resource, signal
def attacks(pid):
    held = []
    for attack in (
        lambda: os.kill(pid, signal.SIGTERM),
        lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
        lambda: open(f"/proc/{pid}/mem", "rb"),
        lambda: os.listdir(f"/proc/{pid}/fd"),
        lambda: open(f"/proc/{pid}/environ", "rb").read(),
    ):
        try:
            attack()
        except PermissionError:
            held.append(True)
    return len(held)
"""
    worker = workers.start(source)
    for pid in (os.getpid(), os.getppid(), workers.connection._server.pid):
        assert value(call(worker, "attacks", pid)) == 5
