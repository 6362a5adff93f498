"""What the fork server knows about processes: threads, children, whose they are. It reads /proc and kills nothing."""

from __future__ import annotations

import os
import select

MOST_DESCRIPTORS = 4096  # of the fork server: no number is as high


def wait(pidfd: int, seconds: float) -> None:
    """Until the process is dead, or `seconds` have passed."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(1000 * seconds)


def threads() -> int:
    """How many threads this process has."""
    return os.stat("/proc/self/task").st_nlink - 2


def children() -> list[int]:
    """The children of this process, dead ones that were not waited for among them."""
    own = str(os.getpid())
    try:
        file = os.open(f"/proc/self/task/{own}/children", os.O_RDONLY)
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _status(pid, b"PPid:") == own]
    try:
        listed = b""
        while block := os.read(file, 1 << 12):
            listed += block
    finally:
        os.close(file)
    return [int(pid) for pid in listed.split()]


def main_thread_has_ended(pid: int) -> bool:
    """Whether the process is dead, or lives on in other threads: then nobody can tell what it has open."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def uid_of(pid: int) -> int | None:
    """The user id of a process; None when there is none."""
    uid = _status(pid, b"Uid:")
    return None if uid is None else int(uid)


def _status(pid: int, field: bytes) -> str | None:
    """The first word of a field of a process's status; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(field):
                    return line.split()[1].decode()
    except OSError:
        pass
    return None
