"""When a scratch folder is too full."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

import pytest

from autograder.worker.forkserver import quota
from autograder.worker.forkserver.quota import is_overfull

PAGE = 4096
LIBC = ctypes.CDLL(None)


def test_all_files_count_together_however_deep(tmp_path: Path) -> None:
    for name in ("a", "b/c/d"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_bytes(b"x" * 10 * PAGE)
    assert not is_overfull(str(tmp_path), 40 * PAGE)
    assert is_overfull(str(tmp_path), 15 * PAGE)


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "big").write_bytes(bytes(b"x" * 100 * PAGE))
    (inside / "file").symlink_to(outside / "big")
    (inside / "folder").symlink_to(outside)
    assert not is_overfull(str(inside), 10 * PAGE)


def test_a_hole_in_a_file_takes_no_room(tmp_path: Path) -> None:
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(1000 * PAGE)
    assert not is_overfull(str(tmp_path), 10 * PAGE)


def test_too_many_empty_files_are_too_much(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(quota, "MOST_ENTRIES", 10)
    for number in range(11):
        (tmp_path / f"{number}").touch()
    assert is_overfull(str(tmp_path), 1 << 30)


def test_what_is_deeper_than_a_path_can_be_long_is_too_much(tmp_path: Path) -> None:
    home = os.open(".", os.O_RDONLY)
    try:
        os.chdir(tmp_path)
        for _ in range(30):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
    finally:
        os.fchdir(home)
        os.close(home)
    assert is_overfull(str(tmp_path), 1 << 30)


def test_a_folder_that_is_gone_is_not_full(tmp_path: Path) -> None:
    assert not is_overfull(str(tmp_path / "gone"), 0)


def test_an_empty_folder_is_full_where_deleted_files_have_used_up_all(tmp_path: Path) -> None:
    assert is_overfull(str(tmp_path), -1)
    assert not is_overfull(str(tmp_path), 0)


def test_files_that_are_deleted_and_still_open_count(tmp_path: Path) -> None:
    before = quota.deleted_bytes(os.getpid())
    with open(tmp_path / "file", "wb", buffering=0) as file:
        os.unlink(file.name)
        file.write(b"x" * 10 * PAGE)
        os.fsync(file.fileno())
        assert quota.deleted_bytes(os.getpid()) - before >= 10 * PAGE
    assert quota.deleted_bytes(os.getpid()) <= before


@pytest.mark.parametrize("name", ["file", "a\rb", "a\nb", " \x0b\x85 ", "(deleted)\r"])
def test_files_that_are_deleted_and_still_mapped_count(name: str, tmp_path: Path) -> None:
    with open("/proc/self/maps", "rb", buffering=0) as maps:
        known = (os.getpid(), maps.fileno(), str(tmp_path))
        with open(tmp_path / name, "w+b", buffering=0) as file:
            file.write(b"x" * 10 * PAGE)
            os.fsync(file.fileno())
            mapped = ctypes_map(file.fileno())
            assert quota.deleted_bytes(*known) == quota.deleted_bytes(os.getpid())
            os.unlink(file.name)
            both = quota.deleted_bytes(*known)
            assert both == quota.deleted_bytes(os.getpid())
        assert quota.deleted_bytes(*known) - quota.deleted_bytes(os.getpid()) >= 10 * PAGE
        LIBC.munmap(ctypes.c_void_p(mapped), ctypes.c_size_t(PAGE))
        assert quota.deleted_bytes(*known) == quota.deleted_bytes(os.getpid())


def test_more_mappings_than_anybody_needs_are_too_much(monkeypatch) -> None:
    monkeypatch.setattr(quota, "MOST_MAPS", 1000)
    with open("/proc/self/maps", "rb", buffering=0) as maps:
        assert quota.deleted_bytes(os.getpid(), maps.fileno(), "/nowhere") > 1 << 30


def ctypes_map(descriptor: int) -> int:
    """One page of a file. (Python's mmap would keep a descriptor of its own open.)"""
    LIBC.mmap.restype = ctypes.c_void_p
    return LIBC.mmap(None, ctypes.c_size_t(PAGE), 1, 1, descriptor, ctypes.c_long(0))


def test_the_list_of_a_process_that_was_waited_for_is_empty(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        signal.pause()
    maps = os.open(f"/proc/{child}/maps", os.O_RDONLY)
    try:
        assert quota._read(maps)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert quota._read(maps) == b""
        assert quota.deleted_bytes(child, maps, str(tmp_path)) == 0
    finally:
        os.close(maps)
