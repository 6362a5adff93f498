"""A ceiling for all workers together, by the kernel's control groups: memory, and the number of processes.

A second wall behind the limits that each worker has, for what no process's limit counts. The fork server starts in a
group of its own, and whatever it forks stays there. Groups can be made where this process may: by root on a machine, in
a session of systemd's; not in an ordinary container. Versions 1 and 2.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.processors import hierarchies

NAME = "control-group"
PROCESSES = 4096
_PREFIX = "softmark-"
_OF_MEMORY = 0.75
_MADE = 60.0  # seconds after which a group that nothing is in was left by a run that was killed
_REMOVING_SECONDS = 2.0
# The shell writes itself in before it becomes the fork server, so that nothing is forked outside.
_ENTER = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done; shift; exec "$@"'
_LIMITS = {
    2: {"memory": "memory.max", "pids": "pids.max"},
    1: {"memory": "memory.limit_in_bytes", "pids": "pids.max"},
}


def memory_ceiling() -> int:
    """Bytes that all workers together may use: three quarters of the machine's."""
    return int(_OF_MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


@dataclass(frozen=True)
class ControlGroup:
    """`folders` of the group, one for each hierarchy; none where there is no group, and then `missing` says why."""

    folders: tuple[Path, ...] = ()
    missing: str = ""
    memory_bytes: int = 0
    processes: int = 0

    @property
    def command(self) -> tuple[str, ...]:
        """What a command line begins with so that its program runs in the group."""
        members = [str(folder / "cgroup.procs") for folder in self.folders]
        return ("/bin/sh", "-c", _ENTER, "sh", *members, "--") if members else ()

    def holds(self, pid: int) -> bool:
        """Whether the kernel says that a process is in it."""
        try:
            return bool(self.folders) and all(
                str(pid) in (folder / "cgroup.procs").read_text().split() for folder in self.folders
            )
        except OSError:
            return False

    def remove(self) -> None:
        """Remove it, once what was in it is dead. What cannot be removed is taken by a later run."""
        deadline = time.monotonic() + _REMOVING_SECONDS
        for folder in self.folders:
            while not _removed(folder) and time.monotonic() < deadline:
                time.sleep(0.01)


def made(memory_bytes: int | None = None, processes: int = PROCESSES, root: Path = Path("/")) -> ControlGroup:
    """A new group that nothing is in yet. `root` is where `proc` and the mounted groups are looked for."""
    memory_bytes = memory_ceiling() if memory_bytes is None else memory_bytes
    values = {"memory": str(memory_bytes), "pids": str(processes)}
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    folders: dict[str, Path] = {}
    reason = "none that this process may divide is mounted"
    for version, controllers, parents in _places(root):
        wanted = [each for each in values if each in controllers and each not in folders]
        for parent in parents if wanted else ():
            try:
                folder = _make(parent / name, {_LIMITS[version][each]: values[each] for each in wanted})
            except OSError as error:
                reason = f"{error.strerror} in {parent}"
                continue
            folders.update(dict.fromkeys(wanted, folder))
            break
    group = ControlGroup(tuple(dict.fromkeys(folders.values())), "", memory_bytes, processes)
    if len(folders) < len(values):
        group.remove()
        return ControlGroup(missing=f"no control group can be made here ({reason})")
    return group


def _make(folder: Path, limits: dict[str, str]) -> Path:
    """Raises `OSError` where it cannot be made, or has no such limits."""
    _remove_left_ones(folder.parent)
    folder.mkdir()
    try:
        for name, value in limits.items():
            with open(folder / name, "r+", encoding="ascii") as file:  # one that is not there must not be made
                file.write(value)
    except OSError:
        _removed(folder)
        raise
    return folder


def _places(root: Path) -> list[tuple[int, frozenset[str], list[Path]]]:
    """For each hierarchy its version, its controllers, and where a group could be made: below ours, or beside it."""
    found: list[tuple[int, frozenset[str], list[Path]]] = []
    for version, controllers, mounted, below in hierarchies(root):
        if below is not None:
            top = root / str(mounted).lstrip("/")
            own = top / below
            found.append((version, controllers, [own, own.parent] if own != top else [own]))
    return sorted(found, key=lambda place: -place[0])


def _remove_left_ones(parent: Path) -> None:
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            if time.time() - folder.stat().st_ctime > _MADE:
                _removed(folder)  # the kernel refuses where something is in it


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
