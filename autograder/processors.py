"""How many processors this process may use: those it may run on, and how much of them its control group allows.

A container sees every processor of its host and may use half of one: a thread for each processor that it sees would
slow all of them down. The kernel tells the quota in the files of its control groups, of either version.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_FALLBACK = 1


def available() -> float:
    """Processors' worth of computing time for this process: 0.5 is half of one."""
    seen = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or _FALLBACK
    allowed = quota()
    return float(seen) if allowed is None else min(float(seen), allowed)


def whole() -> int:
    """How many threads, or processes, can compute side by side: at least one."""
    return max(_FALLBACK, int(available()))


def quota(root: Path = Path("/")) -> float | None:
    """What the control groups of this process allow, the tightest of them all; None where none of them limits.

    `root` is where `proc` and the mounted control groups are looked for.
    """
    quotas: list[float] = []
    for version, controllers, mounted, below in hierarchies(root):
        if "cpu" not in controllers:
            continue
        # Without a view of its own a container is told its path on the host: then the mount itself is its group.
        folder = mounted / (below or PurePosixPath())
        for each in (folder, *(parent for parent in folder.parents if parent.is_relative_to(mounted))):
            found = _unified(root, each) if version == 2 else _legacy(root, each)
            quotas += [] if found is None else [found]
    return min(quotas, default=None)


def hierarchies(root: Path) -> Iterator[tuple[int, frozenset[str], PurePosixPath, PurePosixPath | None]]:
    """The mounted hierarchies of control groups that this process is in.

    Yields version, controllers, where it is mounted, and the path of this process's group below that; None where the
    group lies outside of what is mounted. Version 2 does not say which of its controllers are enabled.
    """
    try:
        groups = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        mounts = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or not kind or kind[0] not in ("cgroup", "cgroup2"):
            continue
        version = 2 if kind[0] == "cgroup2" else 1
        controllers = frozenset(("cpu", "memory", "pids") if version == 2 else kind[-1].split(","))
        for line in groups:
            number, _, rest = line.partition(":")
            names, _, path = rest.partition(":")
            if (number == "0" and not names) if version == 2 else bool(controllers & set(names.split(","))):
                own, top = PurePosixPath(path), PurePosixPath(fields[3])
                below = own.relative_to(top) if own.is_relative_to(top) else None
                yield version, controllers, PurePosixPath(fields[4]), below
                break


def _unified(root: Path, folder: PurePosixPath) -> float | None:
    """Version 2, `cpu.max`: "50000 100000", or "max 100000"."""
    words = _words(root, folder / "cpu.max")
    return _ratio(words[0], words[1]) if len(words) == 2 else None


def _legacy(root: Path, folder: PurePosixPath) -> float | None:
    """Version 1: a quota of -1 is none."""
    allowed, period = _words(root, folder / "cpu.cfs_quota_us"), _words(root, folder / "cpu.cfs_period_us")
    return _ratio(allowed[0], period[0]) if allowed and period else None


def _ratio(allowed: str, period: str) -> float | None:
    try:
        ratio = int(allowed) / int(period)
    except (ValueError, ZeroDivisionError):
        return None
    return ratio if ratio > 0 else None


def _words(root: Path, path: PurePosixPath) -> list[str]:
    try:
        return (root / str(path).lstrip("/")).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []
