"""The ceiling for all workers together: it holds, it is gone afterwards, and its absence is said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import control_groups
from autograder.sandbox.connection import Connection, Limits, wait_ready
from autograder.sandbox.control_groups import made
from autograder.sandbox.deaths import WorkerDied
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Call, Returned, Target
from tests.sandbox.conftest import FORKING, LIMITS, call

MEMORY, PROCESSES = 700 << 20, 24
HOLDS = "import torch\nheld = []\ndef holds(mib):\n    held.append(torch.ones(mib << 18))\n    return mib\n"
FORKS = """
import os, time
def forks(most):
    for made in range(most):
        try:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
        except BlockingIOError:
            return made
    return most
"""


@pytest.fixture(scope="module")
def small() -> Iterator[ForkServer]:
    """A fork server whose workers together may use little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control_groups, "made", partial(made, MEMORY, PROCESSES))
        running = ForkServer.launch()
    with running:
        if running.group.missing:
            pytest.skip(running.group.missing)
        wait_ready(running)
        yield running


def test_memory_of_all_workers_has_a_ceiling_though_each_keeps_its_limit(small: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(HOLDS)
    limits = Limits(memory_bytes=512 << 20, cpu_seconds=20, scratch_bytes=1 << 20)
    with Connection(small) as connection:
        first, second = (connection.spawn(open_folder, ["part"], limits) for _ in range(2))
        deaths = []
        for worker in (first, second):
            try:
                assert call(worker, "holds", 400) == Returned(400)
            except WorkerDied as death:
                deaths.append(death.description)
        if not deaths:  # the kernel ended the first for the second's sake
            with pytest.raises(WorkerDied) as death:
                call(first, "holds", 1)
            deaths.append(death.value.description)
        assert all("SIGKILL" in each or "killed" in each for each in deaths), deaths
        for worker in (first, second):
            worker.close()
        connection.settle()
        assert call(connection.spawn(open_folder, ["part"], limits), "holds", 1) == Returned(1)


def test_processes_of_all_workers_have_a_ceiling(small: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(FORKS)
    with Connection(small) as connection:
        worker = connection.spawn(open_folder, ["part"], FORKING)
        reply = worker.request(Call(Target("forks", "part"), (2 * PROCESSES,)), cpu_seconds=10, wall_seconds=60)
        worker.close()
        connection.settle()
        assert isinstance(reply, Returned)
        assert 0 < reply.value < PROCESSES
        assert call(connection.spawn(open_folder, ["part"], replace(LIMITS)), "forks", 0) == Returned(0)


def test_it_is_removed_with_the_fork_server_and_holds_nobody_else(small: ForkServer) -> None:
    assert small.group.holds(small.pid)
    assert not small.group.holds(os.getpid())
    with ForkServer.launch() as other:
        folders = other.group.folders
        assert folders and all(folder.is_dir() for folder in folders)
    assert not any(folder.exists() for folder in folders)


def machine(root: Path, groups: str, mounts: str) -> Path:
    """A root with what the kernel tells of control groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    (root / "proc/self/mountinfo").write_text(mounts)
    return root


def test_without_control_groups_there_is_no_ceiling_and_no_command(tmp_path: Path) -> None:
    group = made(root=tmp_path)
    assert group.missing == "no control group can be made here (none that this process may divide is mounted)"
    assert group.command == ()
    assert not group.holds(os.getpid())


@pytest.mark.parametrize(
    ("groups", "mounts", "last"),
    [
        ("0::/", "30 23 0:26 / /groups rw - cgroup2 cgroup rw", "groups"),
        ("4:memory:/a/b\n8:pids:/a/b", "33 31 0:30 / /groups/memory rw - cgroup cgroup rw,memory", "groups/memory/a"),
    ],
)
def test_where_none_may_be_made_the_reason_is_said_and_nothing_is_left(
    tmp_path: Path, groups: str, mounts: str, last: str
) -> None:
    """Folders that are no control groups: they have no limits."""
    (tmp_path / "groups/memory/a/b").mkdir(parents=True)
    before = sorted((tmp_path / "groups").rglob("*"))
    group = made(root=machine(tmp_path, groups, mounts))
    assert group.missing == f"no control group can be made here (No such file or directory in {tmp_path / last})"
    assert sorted((tmp_path / "groups").rglob("*")) == before


@pytest.mark.parametrize(
    ("groups", "mounts", "places"),
    [
        ("0::/a/b", "30 23 0:26 / /top rw - cgroup2 cgroup rw", [(2, ["top/a/b", "top/a"])]),
        ("0::/", "30 23 0:26 / /top rw - cgroup2 cgroup rw", [(2, ["top"])]),
        ("0::/a", "30 23 0:26 /a /top rw - cgroup2 cgroup rw", [(2, ["top"])]),
        ("4:memory:/x", "33 31 0:30 / /top rw - cgroup cgroup rw,memory", [(1, ["top/x", "top"])]),
        ("4:memory:/host/x", "33 31 0:30 /other /top rw - cgroup cgroup rw,memory", []),
        ("4:memory:/x", "33 31 0:30 / /tmp rw - tmpfs tmpfs rw", []),
    ],
)
def test_a_group_is_made_below_that_of_this_process_or_beside_it(
    tmp_path: Path, groups: str, mounts: str, places: list[Any]
) -> None:
    found = control_groups._places(machine(tmp_path, groups, mounts))
    assert [(version, [str(p.relative_to(tmp_path)) for p in parents]) for version, _, parents in found] == places


def test_a_group_that_a_killed_run_left_is_taken_away_once_it_is_old(tmp_path: Path, monkeypatch) -> None:
    left, kept = tmp_path / "softmark-1-abcd", tmp_path / "another"
    left.mkdir()
    kept.mkdir()
    control_groups._remove_left_ones(tmp_path)
    assert left.exists()
    monkeypatch.setattr(control_groups, "_MADE", -1.0)
    control_groups._remove_left_ones(tmp_path)
    assert not left.exists()
    assert kept.exists()
