"""How full a worker's scratch folder is. The fork server asks twenty times a second while workers are alive.

Theory of operation. The kernel limits the size of one file (`layers.resources`), not of all files together, and a file
system of its own would take rights that a container does not have. So the fork server adds up the blocks of all files
in the folder and kills the worker when the sum is too large. A worker can exceed the quota by what it writes between
two polls (50 ms).

Three kinds of files count:

1. Files with a name: found by listing the folder.
2. Deleted files that are still open: found in /proc/<pid>/fd, where the kernel lets this process look (root with
   CAP_SYS_PTRACE). Elsewhere the limits on open files and on the size of one file bound them.
3. Deleted files that are only mapped: no limit bounds these. So a worker hands over its list of mappings (`Maps`)
   before student code runs in it.

For example, with a quota of 16 MiB a worker writes 10 MiB into a.bin, deletes it while it is open, and writes 10 MiB
into b.bin. The folder shows 10 MiB; the deleted file adds 10 MiB; 20 MiB are too much, and the worker is killed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterator

SECONDS = 0.05
MOST_ENTRIES = 5_000
MOST_MAPS = 1 << 19
"""Bytes of a list of mappings, some 8,000 of them (a worker has 300). It is read whole at each look."""
UNSEEN = 2 << 20
"""Bytes that count for a deleted, mapped file where the kernel does not tell how large it is."""
_NUMBER, _INT = struct.Struct("=Q"), struct.Struct("i")


def is_overfull(folder: str, most_bytes: int) -> bool:
    """Whether there are more bytes in `folder` than `most_bytes`, or more entries than anybody needs."""
    if most_bytes < 0:
        return True
    found, entries = 0, 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as scanned:
                for entry in scanned:
                    entries += 1
                    status = entry.stat(follow_symlinks=False)
                    found += status.st_blocks * 512
                    if found > most_bytes or entries > MOST_ENTRIES:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except FileNotFoundError:
            continue  # deleted meanwhile
        except OSError:
            return True  # deeper than a path can be long, or closed
    return False


def deleted_bytes(pid: int, maps: int | None = None, folder: str = "") -> int:
    """Bytes on disk of files that the process holds open and that have no name any more; 0 where nobody can tell.

    `maps` is a descriptor of its list of mappings: with it, files of `folder` that it maps count as well. More
    mappings than anybody needs count as a terabyte.
    """
    held = _open_and_deleted(pid)
    if maps is not None:
        listed = _read(maps)
        if len(listed) > MOST_MAPS:
            return 1 << 40
        held.update([*_mapped_and_deleted(pid, listed, folder, held)])
    return sum(held.values())


class Maps:
    """The lists of mappings of all workers, by numbers that the fork server gives them.

    A worker may open its own list, and others may not once it is confined, so it hands it over (`hand_over`) before
    student code runs in it. Nothing waits for that.
    """

    def __init__(self) -> None:
        self._line, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.setblocking(False)
        self._lists: dict[int, int] = {}

    def hand_over(self, number: int) -> None:
        """In the worker. It leaves its copies of the line open."""
        maps = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
        self._theirs.sendmsg([_NUMBER.pack(number)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, _INT.pack(maps))])
        os.close(maps)

    def of(self, number: int) -> int | None:
        """The descriptor of a list; None where it has not come yet, or never will, because the worker died first."""
        self.take_in()
        return self._lists.get(number)

    def forget(self, number: int) -> None:
        """Close the list of a worker that is dead."""
        self.take_in()
        descriptor = self._lists.pop(number, None)
        if descriptor is not None:
            os.close(descriptor)

    def take_in(self) -> None:
        """Empty the line: a worker that finds it full waits."""
        with contextlib.suppress(BlockingIOError):
            while True:
                number, descriptors, _, _ = socket.recv_fds(self._line, _NUMBER.size, 1)
                if descriptors:
                    self._lists[_NUMBER.unpack(number)[0]] = descriptors[0]


def _open_and_deleted(pid: int) -> dict[int, int]:
    """Bytes by inode. (The device has another number in a list of mappings, on some file systems.)"""
    held: dict[int, int] = {}
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return held
    for name in names:
        try:
            status = os.stat(f"{folder}/{name}")
        except OSError:
            continue
        if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
            held[status.st_ino] = status.st_blocks * 512
    return held


def _read(maps: int) -> bytes:
    """The list, cut off once it is too long; empty once the process has ended."""
    listed = bytearray()
    with contextlib.suppress(OSError):  # it was waited for (ProcessLookupError), or there was no memory
        os.lseek(maps, 0, os.SEEK_SET)
        while len(listed) <= MOST_MAPS and (block := os.read(maps, 1 << 16)):
            listed += block
    return bytes(listed)


def _mapped_and_deleted(pid: int, listed: bytes, folder: str, known: dict[int, int]) -> Iterator[tuple[int, int]]:
    if b"(deleted)" not in listed:
        return
    beginning = os.fsencode(folder) + b"/"
    for line in listed.split(b"\n"):  # the kernel escapes no other line end in a name
        fields = line.split(None, 5)
        if len(fields) < 6 or not line.endswith(b"(deleted)"):
            continue
        place, _, _, _, inode, path = fields
        if path.startswith(beginning) and int(inode) not in known:
            try:
                yield int(inode), os.stat(f"/proc/{pid}/map_files/{place.decode()}").st_blocks * 512
            except OSError:
                yield int(inode), UNSEEN
