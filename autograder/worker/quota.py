"""How full a scratch folder is: what the fork server looks at, twenty times a second, while workers are alive.

The kernel limits one file (`layers.resources`), not all of them together, and a file system of its own would take
rights that a container does not have. So a worker whose folder has grown too large is killed; what it writes between
two looks is what it can have too much. Files that are deleted and still open count as well, where the kernel lets this
process see them (root with CAP_SYS_PTRACE, not root in an ordinary container); elsewhere their number and the size of
each are what bounds them.
"""

from __future__ import annotations

import os
import stat

SECONDS = 0.05
MOST_ENTRIES = 5_000


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


def deleted_bytes(pid: int) -> int:
    """Bytes on disk of files that the process holds open and that have no name any more; 0 where nobody can tell."""
    held: dict[tuple[int, int], int] = {}
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    for name in names:
        try:
            status = os.stat(f"{folder}/{name}")
        except OSError:
            continue
        if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
            held[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(held.values())
