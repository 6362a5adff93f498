"""Temporary folders that a run which was killed does not leave behind for good: the next run takes them away.

Each is locked as long as a process that it belongs to lives; the kernel lets go of the lock of who is killed. So a
folder of this user that nobody holds is nobody's, whatever process ids have been given again since. It says nothing of
folders that somebody else made, and follows no link.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from autograder.worker.protocol.system import remove_tree

try:
    import fcntl
except ImportError:  # Windows, where no fork server leaves anything
    fcntl = None

PREFIX = "softmark-run-"


class TemporaryFolder:
    """A folder of mode 0700, removed at the end of a `with`, or by `remove`. `path` is where it is.

    A process forked meanwhile holds it too, and must not remove it.
    """

    def __init__(self) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            self._lock = _locked(self.path)
            if self._lock is None or os.fstat(self._lock).st_nlink:
                return  # else it was taken for a left one before it was locked
            os.close(self._lock)

    def remove(self) -> None:
        """Remove it with all that is in it. May be called twice."""
        if self.path.exists():
            shutil.rmtree(self.path)
        self.let_go()

    def let_go(self) -> None:
        """This process needs it no longer. May be called twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_left_ones() -> int:
    """Remove the folders of this user that nobody holds any more, and say how many they were."""
    if fcntl is None:
        return 0
    removed = 0
    for entry in os.scandir(tempfile.gettempdir()):
        if not entry.name.startswith(PREFIX) or (held := _of_this_user(entry.path)) is None:
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(entry.path)
            removed += 1
        except OSError:
            continue  # it is in use, or its file system has no locks
        finally:
            os.close(held)
    return removed


def _locked(path: Path) -> int | None:
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    with contextlib.suppress(OSError):  # a file system without locks: then nobody gets one for removing it, either
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _of_this_user(path: str) -> int | None:
    """A descriptor of a folder that is this user's own, and is no link; None where it is something else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if status.st_uid == os.geteuid() and stat.S_ISDIR(status.st_mode):
        return descriptor
    os.close(descriptor)
    return None
