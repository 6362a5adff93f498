"""How many processors this process may use: those it may run on, and how much of them its control group allows.

A container sees every processor of its host and may use half of one: whoever starts a thread for each that it sees is
slowed by all of them. It reads what the kernel says (control groups of either version) and sets nothing.
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
    try:
        groups = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        mounts = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    quotas = [
        found
        for version, folder in _folders(groups, mounts)
        if (found := _unified(root, folder) if version == 2 else _legacy(root, folder)) is not None
    ]
    return min(quotas, default=None)


def _folders(groups: list[str], mounts: list[str]) -> Iterator[tuple[int, PurePosixPath]]:
    """Each group that this process's computing time is counted in, and all above it, as they are mounted here."""
    for mount in mounts:
        before, _, after = mount.partition(" - ")
        fields, kind = before.split(), after.split()
        if len(fields) < 5 or not kind or kind[0] not in ("cgroup", "cgroup2"):
            continue
        controllers = kind[-1].split(",")
        if kind[0] == "cgroup" and "cpu" not in controllers:
            continue
        inside = _group(groups, 2 if kind[0] == "cgroup2" else 1)
        top, mounted = PurePosixPath(fields[3]), PurePosixPath(fields[4])
        if inside is None:
            continue
        # Without a view of its own a container is told its path on the host: then the mount itself is its group.
        below = inside.relative_to(top) if inside.is_relative_to(top) else PurePosixPath()
        folder = mounted / below
        while folder != mounted:
            yield (2 if kind[0] == "cgroup2" else 1), folder
            folder = folder.parent
        yield (2 if kind[0] == "cgroup2" else 1), mounted


def _group(groups: list[str], version: int) -> PurePosixPath | None:
    for line in groups:
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (version == 2 and hierarchy == "0" and not controllers) or (
            version == 1 and "cpu" in controllers.split(",")
        ):
            return PurePosixPath(path)
    return None


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
