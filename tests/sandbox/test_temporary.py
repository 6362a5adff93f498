"""Temporary folders: held while their process lives, taken away by the next run when it was killed; nothing else is."""

from __future__ import annotations

import os
import select
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox import temporary
from autograder.sandbox.temporary import PREFIX, TemporaryFolder, remove_left_ones

pytestmark = pytest.mark.skipif(temporary.fcntl is None, reason="needs the locks of a Unix")


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


def left_by_a_killed_process() -> Path:
    """A folder whose process was killed, with a file in it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        folder = TemporaryFolder()
        (folder.path / "deep" / "er").mkdir(parents=True)
        (folder.path / "deep" / "er" / "file").write_text("x")
        os.write(write, os.fsencode(folder.path))
        os.kill(os.getpid(), signal.SIGKILL)
    path = Path(os.fsdecode(os.read(read, 1000)))
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    return path


def test_a_folder_is_its_users_alone_and_gone_at_the_end() -> None:
    with TemporaryFolder() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("x")
    assert not folder.exists()


def test_a_folder_that_is_held_stays() -> None:
    with TemporaryFolder() as folder:
        assert remove_left_ones() == 0
        child = os.fork()
        if child == 0:
            os._exit(remove_left_ones())
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert folder.is_dir()


def test_what_a_killed_process_left_is_taken_away(place: Path) -> None:
    path = left_by_a_killed_process()
    assert (path / "deep" / "er" / "file").exists()
    assert remove_left_ones() == 1
    assert list(place.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs process descriptors")
def test_a_process_that_was_forked_from_a_killed_one_holds_it_to_its_end() -> None:
    (goes_on, stop), (read, write) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(stop)
        TemporaryFolder()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            os.read(goes_on, 1)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    grandchild = os.pidfd_open(int(os.read(read, 20)))
    os.waitpid(child, 0)
    assert remove_left_ones() == 0
    os.close(stop)
    poll = select.poll()
    poll.register(grandchild, select.POLLIN)
    assert poll.poll(30_000)
    assert remove_left_ones() == 1
    for descriptor in (goes_on, read, write, grandchild):
        os.close(descriptor)


@pytest.mark.parametrize("name", ["softmark-other", f"{PREFIX}link", f"{PREFIX}file", "else"])
def test_nothing_else_is_touched(place: Path, name: str) -> None:
    kept = place / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    path = place / name
    if name.endswith("link"):
        path.symlink_to(kept)
    elif name.endswith("file"):
        path.write_text("x")
    else:
        path.mkdir()
    assert remove_left_ones() == 0
    assert path.exists() and (kept / "file").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_elses_stays(place: Path) -> None:
    path = left_by_a_killed_process()
    os.chown(path, 61_234, 61_234)
    assert remove_left_ones() == 0
    assert path.is_dir()


def test_a_folder_that_is_taken_away_before_it_is_locked_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    make, made = tempfile.mkdtemp, list[str]()

    def make_and_lose_the_first(**options: str) -> str:
        made.append(make(**options))
        if len(made) == 1:
            held = os.open(made[0], os.O_RDONLY)
            os.rmdir(made[0])
            monkeypatch.setattr(temporary, "_locked", lambda _path: held)
        else:
            monkeypatch.undo()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", make_and_lose_the_first)
    with TemporaryFolder() as folder:
        assert len(made) == 2 and str(folder) == made[1] and folder.is_dir()
