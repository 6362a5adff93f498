"""A grader's connection: workers are fetched in the order in which they were begun, and each end is told once."""

from __future__ import annotations

from pathlib import Path

from autograder.sandbox.connection import Connection
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Returned
from tests.sandbox.conftest import LIMITS, call

ONE = "def one():\n    return 1\n"


def test_workers_that_were_begun_are_fetched_in_their_order(server: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(ONE)
    with Connection(server) as connection:
        coming = [connection.begin(open_folder, ["part"], LIMITS) for _ in range(3)]
        workers = [each.worker() for each in coming]
        assert len({worker.pid for worker in workers}) == 3
        assert [call(worker, "one") for worker in workers] == [Returned(1)] * 3
        for worker in workers:
            worker.close()
        connection.settle()


def test_the_end_of_a_worker_is_told_while_another_is_being_forked(server: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(ONE)
    with Connection(server) as connection:
        first = connection.spawn(open_folder, ["part"], LIMITS)
        first.wait_ready()
        coming = connection.begin(open_folder, ["part"], LIMITS)
        connection.end(first.pid)
        assert connection.wait_ended(first.pid).worker == first.pid
        second = coming.worker()
        assert call(second, "one") == Returned(1)
        second.close()
        connection.settle()
