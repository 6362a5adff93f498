"""What the fork server knows about processes: threads, whose they are. It reads /proc and kills nothing."""

from __future__ import annotations

import os
import select

from ..protocol.system import status_field

MOST_DESCRIPTORS = 4096  # of the fork server: no number is as high


def wait(pidfd: int, seconds: float) -> None:
    """Until the process is dead, or `seconds` have passed."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.poll(1000 * seconds)


def threads() -> int:
    """How many threads this process has."""
    return os.stat("/proc/self/task").st_nlink - 2


def main_thread_has_ended(pid: int) -> bool:
    """Whether the process is dead, or lives on in other threads: then nobody can tell what it has open."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def uid_of(pid: int) -> int | None:
    """The user id of a process; None when there is none."""
    uid = status_field(pid, b"Uid:")
    return None if uid is None else int(uid)
