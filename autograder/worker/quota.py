"""How full a scratch folder is: what the fork server looks at, twenty times a second, while workers are alive.

The kernel limits one file (`layers.resources`), not all of them together, and a file system of its own would take
rights that a container does not have. So a worker whose folder has grown too large is killed; what it writes between
two looks is what it can have too much. Files that are deleted but still open are not seen: they are bounded by the
number of open files.
"""

from __future__ import annotations

import os

SECONDS = 0.05
MOST_ENTRIES = 5_000


def is_overfull(folder: str, most_bytes: int) -> bool:
    """Whether there are more bytes in `folder` than `most_bytes`, or more entries than anybody needs."""
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
