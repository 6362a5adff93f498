"""Access times that no worker can move: else one that reads a file would tell the next, who asks when it was read.

A file system with `relatime`, the usual kind, writes an access time down where it is older than a day, or older than
the last change. So what all workers may read is read once before the first of them. That is good for a day. Where each
reading is written down (`strictatime`) nothing can be done here; where none is (most containers), nothing needs to be.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable

_DAY = 86_400
_ENOUGH = 1_000  # as many that do not move, and no other of that file system will


def read_all(paths: Iterable[str]) -> None:
    """Read a byte of every file below `paths`, and every folder and link, whose access time a reader would move."""
    waiting, since = list(paths), time.time() - _DAY / 2
    unmoved: dict[int, int] = {}
    while waiting:
        path = waiting.pop()
        try:
            status = os.lstat(path)
            is_link = stat.S_ISLNK(status.st_mode)
            if stat.S_ISDIR(status.st_mode):
                waiting += [f"{path}/{name}" for name in os.listdir(path)]
            elif unmoved.get(status.st_dev, 0) < _ENOUGH and _would_move(status, since):
                _read(path, is_link)
                moved = os.lstat(path).st_atime_ns != status.st_atime_ns
                unmoved[status.st_dev] = 0 if moved else unmoved.get(status.st_dev, 0) + 1
        except OSError:
            continue  # closed to this user, as it will be to workers


def _would_move(status: os.stat_result, since: float) -> bool:
    return status.st_atime <= max(status.st_mtime, status.st_ctime, since)


def _read(path: str, is_link: bool) -> None:
    if is_link:
        os.readlink(path)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.read(descriptor, 1)
    finally:
        os.close(descriptor)
