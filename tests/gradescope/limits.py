"""Limits of the platform for a replica, by the kernel's control groups (of either version), and what was used.

`Limits.make` gives None where no group can be made (an ordinary user, a container): the replica then runs without, and
says so.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

TOP = Path("/sys/fs/cgroup")
MEGABYTE = 1 << 20


@dataclass
class Limits:
    """Groups of one replica, by controller (in version 2 it is one, by an empty name)."""

    groups: dict[str, Path]
    version: int

    @property
    def memory(self) -> Path:
        """The group that counts memory."""
        return self.groups[""] if self.version == 2 else self.groups["memory"]

    @classmethod
    def make(cls, name: str, processors: float, megabytes: int) -> Limits | None:
        """Make groups with that much of a processor (and not less, however busy the machine is) and of memory."""
        period = 100_000
        version = 2 if (TOP / "cgroup.controllers").exists() else 1
        controllers = [""] if version == 2 else ["cpu", "cpuacct", "memory"]
        made = cls({}, version)
        try:
            for controller in controllers:
                (TOP / controller / name).mkdir()
                made.groups[controller] = TOP / controller / name
            if version == 2:
                (made.groups[""] / "cpu.max").write_text(f"{int(processors * period)} {period}")
                (made.groups[""] / "cpu.weight").write_text("10000")
                (made.groups[""] / "memory.max").write_text(str(megabytes * MEGABYTE))
            else:
                (made.groups["cpu"] / "cpu.cfs_period_us").write_text(str(period))
                (made.groups["cpu"] / "cpu.cfs_quota_us").write_text(str(int(processors * period)))
                (made.groups["cpu"] / "cpu.shares").write_text("262144")
                (made.memory / "memory.limit_in_bytes").write_text(str(megabytes * MEGABYTE))
            return made
        except OSError:
            made.remove()
            return None

    def cpu_seconds(self) -> float:
        """Computing time of everything that ran in it."""
        if self.version == 1:
            return int((self.groups["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        fields = dict(line.split() for line in (self.groups[""] / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6

    def processes(self) -> list[int]:
        """Whatever runs in it."""
        return [int(pid) for pid in (self.memory / "cgroup.procs").read_text().split()]

    def ended_for_memory(self) -> int:
        """How many processes the kernel has ended because the group had no memory left."""
        file = self.memory / ("memory.events" if self.version == 2 else "memory.oom_control")
        fields = dict(line.split() for line in file.read_text().splitlines())
        return int(fields.get("oom_kill", 0))

    def remove(self) -> None:
        for group in self.groups.values():
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except OSError:  # its processes are still ending
                    time.sleep(0.05)


class Peak:
    """The largest memory of all processes together, looked at from outside while they run.

    A page that several share counts once (the kernel's proportional set size). What lies in the file cache alone does
    not count: the kernel gives that up before it ends anything.
    """

    def __init__(self, limits: Limits, every: float = 0.2) -> None:
        self.bytes = 0
        self.shares: dict[str, int] = {}
        self._limits, self._every = limits, every
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(self._every):
            shares = {f"{pid} {_name(pid)}": _proportional(pid) for pid in self._limits.processes()}
            if (total := sum(shares.values())) > self.bytes:
                self.bytes, self.shares = total, shares


def _proportional(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("Pss:")), 0)
    except OSError:
        return 0


def _name(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return " ".join(os.path.basename(word.decode("utf-8", "replace"))[:40] for word in words[-4:] if word)[:80]
