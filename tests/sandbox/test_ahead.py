"""Workers that are forked before they are needed: in order, for those who may have them, and none left over."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from autograder.run.session import Session
from autograder.sandbox.connection import Connection
from autograder.worker.protocol.messages import Returned
from tests.sandbox.conftest import LIMITS, call
from tests.tiny import tiny_assignment

PID = "import os\ndef pid():\n    return os.getpid()\n"
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives each worker a user id of its own")


@pytest.fixture
def spawning(tmp_path, open_folder, session):
    (open_folder / "numbers_part.py").write_text(PID)
    return session.spawn_from(tiny_assignment(tmp_path))(open_folder)


def pid_of(worker) -> int:
    reply = worker.request(_pid(), cpu_seconds=10, wall_seconds=60)
    worker.close()
    return reply.value


def _pid():
    from autograder.worker.protocol.messages import Call, Target

    return Call(Target("pid", "numbers_part"), ())


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def newcomer(session, before: set[int]) -> int:
    """The child of the fork server that was not there before, as soon as it is there."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if new := set(children(session.connected()._server.pid)) - before:
            (pid,) = new
            return pid
        time.sleep(0.01)
    raise AssertionError("nothing was forked")


def test_two_that_were_begun_together_are_fetched_in_order_and_their_ends_told_apart(server, open_folder) -> None:
    (open_folder / "part.py").write_text("def one():\n    return 1\n")
    with Connection(server) as connection:
        first, second = (connection.begin(open_folder, ["part"], LIMITS) for _ in range(2))
        one = first.worker()
        assert call(one, "one") == Returned(1)
        one.close()
        assert connection.wait_ended(one.pid).worker == one.pid
        two = second.worker()
        assert two.pid != one.pid
        assert call(two, "one") == Returned(1)
        two.close()
        connection.settle()


def test_an_end_that_comes_before_a_fork_is_not_lost(server, open_folder) -> None:
    (open_folder / "part.py").write_text("def one():\n    return 1\n")
    with Connection(server) as connection:
        one = connection.spawn(open_folder, ["part"], LIMITS)
        assert call(one, "one") == Returned(1)
        one.close()
        assert call(connection.begin(open_folder, ["part"], LIMITS).worker(), "one") == Returned(1)
        assert connection.wait_ended(one.pid).worker == one.pid


@ROOT
def test_the_one_that_was_prepared_is_the_next_and_is_forked_while_the_one_before_lives(spawning, session) -> None:
    one = spawning()
    one.wait_ready()
    before = set(children(session.connected()._server.pid))
    spawning.prepare()
    prepared = newcomer(session, before)
    two = spawning()
    assert two.pid == prepared
    assert one.pid in children(session.connected()._server.pid)
    assert {pid_of(one), pid_of(two)} == {one.pid, two.pid}
    session.settle()


@ROOT
def test_one_that_nobody_needed_is_ended(spawning, session) -> None:
    session.settle()
    before = set(children(session.connected()._server.pid))
    spawning.prepare()
    assert newcomer(session, before)
    spawning.close()
    session.settle()
    assert set(children(session.connected()._server.pid)) == before


@ROOT
def test_one_that_died_with_its_fork_server_is_replaced(tmp_path, open_folder) -> None:
    (open_folder / "numbers_part.py").write_text(PID)
    with Session() as own:
        own.wait_ready()
        spawning = own.spawn_from(tiny_assignment(tmp_path))(open_folder)
        one = spawning()
        spawning.prepare()
        os.kill(own.connected()._server.pid, signal.SIGKILL)
        one.close()
        two = spawning()
        assert pid_of(two) == two.pid
        own.settle()


@ROOT
def test_one_whose_fork_server_was_replaced_leaves_no_pipe(tmp_path, open_folder) -> None:
    (open_folder / "numbers_part.py").write_text(PID)
    with Session() as own:
        own.wait_ready()
        spawning = own.spawn_from(tiny_assignment(tmp_path))(open_folder)
        spawning.prepare()
        pipes = spawning._ahead._pipes
        own.replace_server()
        spawning.close()
        for descriptor in pipes:
            with pytest.raises(OSError):
                os.fstat(descriptor)


def test_where_workers_share_a_user_none_is_there_before_its_time(spawning, session, monkeypatch) -> None:
    monkeypatch.setattr(session, "_identities", "none")
    spawning.prepare()
    assert spawning._ahead is None
