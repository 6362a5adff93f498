"""What both sides ask of the operating system: to remove a folder, and who the children of a process are."""

from __future__ import annotations

import ctypes
import os
import subprocess

_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def remove_tree(folder: str) -> None:
    """Delete a folder with everything in it, following no link."""
    remove = ("/bin/rm", "-rf", "--one-file-system", "--", folder)
    _run(*remove)
    if os.path.lexists(folder):  # whoever is not root cannot look into a folder that is closed to its owner
        _run("/bin/chmod", "-R", "u+rwX", "--", folder)
        _run(*remove)


def _run(*command: str) -> None:
    subprocess.run(command, check=False, env={}, stderr=subprocess.DEVNULL)


def children() -> list[int]:
    """The children of this process, dead ones that were not waited for among them."""
    own = str(os.getpid())
    try:
        file = os.open(f"/proc/self/task/{own}/children", os.O_RDONLY)
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if status_field(pid, b"PPid:") == own]
    try:
        listed = b""
        while block := os.read(file, 1 << 12):
            listed += block
    finally:
        os.close(file)
    return [int(pid) for pid in listed.split()]


def status_field(pid: int, field: bytes) -> str | None:
    """The first word of a field of a process's status; None when there is no such process."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(field):
                    return line.split()[1].decode()
    except OSError:
        pass
    return None


def adopt_orphans() -> None:
    """Let processes whose parent has died become children of this one. Raises `OSError`."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def prctl(option: int, value: int) -> None:
    """Change one attribute of this process, see prctl(2). Raises `OSError`."""
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}): {os.strerror(error)}")
