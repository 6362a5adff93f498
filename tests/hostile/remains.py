"""What submissions may have left behind: processes, files, shared memory, System V and POSIX objects, keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from autograder.run.session import Session

FIRST_WORKER_ID = 1 << 30  # where the kernel takes such ids; lower ones may be people's
SHARED_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock")


def remains(session: Session) -> list[str]:
    """Everything that is there and should not be, in words. Only what user ids of workers could own is looked at."""
    server = session.server
    found = [f"process {pid} ({name})" for pid, name in _workers(server.pid)]
    found += [f"file {path}" for path in (server.runtime / "scratch").glob("*/*")]
    if os.geteuid() == 0:
        found += [f"file {path}" for path in _owned_files()]
        found += _system_v()
        found += _keys()
    return found


def _workers(server: int) -> Iterator[tuple[int, str]]:
    """Children of the fork server, and what runs under ids that only its workers have, but for the killer."""
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        is_killer = fields["Uid"].split()[0] == fields["Uid"].split()[2] == str(os.geteuid())
        if int(fields["PPid"]) == server and not (is_killer and os.geteuid() == 0):
            yield pid, fields["State"].strip()


def _owned_files() -> Iterator[str]:
    for place in SHARED_PLACES:
        if not os.path.isdir(place):
            continue
        for entry in os.scandir(place):
            try:
                if entry.stat(follow_symlinks=False).st_uid >= FIRST_WORKER_ID:
                    yield entry.path
            except FileNotFoundError:
                continue


def _system_v() -> Iterator[str]:
    for kind in ("shm", "sem", "msg"):
        path = Path("/proc/sysvipc") / kind
        if path.exists():
            head, *rows = (line.split() for line in path.read_text().splitlines())
            for row in rows:
                if int(row[head.index("uid")]) >= FIRST_WORKER_ID:
                    yield f"System V {kind} {row}"


def _keys() -> Iterator[str]:
    path = Path("/proc/keys")
    if path.exists():
        for line in path.read_text().splitlines():
            words = line.split()
            if words[5].isdigit() and int(words[5]) >= FIRST_WORKER_ID and words[7] == "user":
                yield f"key {line}"
