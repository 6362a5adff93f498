"""How much of a process's memory is files that it may write: memory that its resident set shows, but as a library's.

Whoever has mapped and filled a file before a call can use it in the call, and the resident set does not move. It cannot
tell what of the fork server's memory a worker has written over: honest imports do that to some 60 MiB.
"""

from __future__ import annotations

_KIBI = 10


def writable_file_bytes(pid: int) -> int:
    """Resident bytes of files that the process may write through a shared mapping, dirty or not.

    Only who may trace it is told. Raises `OSError`.
    """
    found = resident = 0
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        for line in smaps:  # of each mapping its range, then its figures, the flags last
            name, _, said = line.partition(b":")
            if name == b"Rss":
                resident = int(said.split()[0])
            elif name == b"VmFlags" and {b"ms", b"mw"} <= {*said.split()}:  # may be, also where it is not just now
                found += resident
    return found << _KIBI
