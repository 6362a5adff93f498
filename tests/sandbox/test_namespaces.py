"""Namespaces around the fork server: what is in sight there, and that who cannot have them grades all the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.sandbox import namespaces
from autograder.sandbox.connection import Connection
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Returned
from tests.sandbox.conftest import LIMITS, Workers, call

ROOT = Path(__file__).parents[2]
SYSTEM = {"bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"}
BARE = replace(LIMITS, without=("seccomp", "landlock"))


@pytest.fixture
def inside(server: ForkServer, workers: Workers) -> Iterator[Workers]:
    if server.without_namespaces:
        pytest.skip(server.without_namespaces)
    yield workers


@pytest.fixture
def a_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name, first on the path."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return program


def test_of_the_machine_there_is_little_in_sight(inside: Workers) -> None:
    source = "import os\ndef seen(paths):\n    return [path for path in paths if os.path.exists(path)], os.listdir('/')"
    paths = [
        "/etc/passwd",
        "/etc/hosts",
        "/root",
        "/home",
        "/var",
        "/boot",
        str(ROOT / "solutions"),
        str(ROOT / "autograder"),
    ]
    seen = call(inside.start(source, BARE), "seen", paths)
    assert isinstance(seen, Returned) and seen.value[0] == []
    assert set(seen.value[1]) <= SYSTEM | _first_steps()


def _first_steps() -> set[str]:
    """Where the project, its environment and temporary files lie."""
    places = (ROOT, Path(shutil.which("python3") or "/usr"), Path(os.environ.get("TMPDIR", "/tmp")))
    return {place.resolve().parts[1] for place in places}


def test_only_the_workers_own_folder_can_be_written_to(inside: Workers) -> None:
    source = """
import os
def tries(paths):
    done = []
    for path in paths:
        try:
            open(path + "/new", "w").close()
        except OSError:
            continue
        done.append(path)
    return done
"""
    worker = inside.start(source, BARE)
    assert call(worker, "tries", ["/tmp", "/var/tmp", "/usr", "/", str(inside.folder), "."]) == Returned(["."])


def test_there_is_no_network_but_its_own(inside: Workers) -> None:
    source = "import socket\ndef names():\n    return [name for _, name in socket.if_nameindex()]"
    assert call(inside.start(source, BARE), "names") == Returned(["lo"])


def test_where_bubblewrap_does_not_work_the_fork_server_runs_without(a_bwrap: Path, open_folder: Path) -> None:
    (open_folder / "part.py").write_text("def one():\n    return 1\n")
    with ForkServer.launch() as running, Connection(running) as connection:
        assert running.without_namespaces == (
            "bubblewrap does not work here (bwrap: No permissions to create new namespace)"
        )
        assert call(connection.spawn(open_folder, ["part"], LIMITS), "one") == Returned(1)


def test_where_there_is_no_bubblewrap_it_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = namespaces.around("/usr/bin/python3", tmp_path, [])
    assert found == namespaces.Namespaces(missing="bubblewrap is not installed")


def test_parents_that_are_made_on_the_way_are_open_and_those_that_are_bound_are_left_alone() -> None:
    folders = [
        "/opt/course/venv/lib",
        "/opt/course/venv",
        "/usr",
        "/usr/lib/python3",
        "/tmp",
        "/tmp/run",
        "/etc/localtime",
    ]
    assert namespaces._made_by_the_way(folders) == ["/etc", "/opt", "/opt/course"]
