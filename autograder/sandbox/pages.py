"""Which memory of a process is its own: what it does not share with the fork server it came from, from /proc/PID/smaps.

A worker is born with all of the fork server's memory, some 190 MiB that its resident set counts from the start. What
it writes there is copied, page by page, and the resident set does not move; nor does it where a file of its own was
mapped and filled before. Only who may trace the process may read this. It judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

_KIBI = 10


@dataclass(frozen=True)
class Pages:
    """Resident bytes of one process.

    Attributes:
        anonymous: of no file.
        inherited: of these, what it still shares with the process that it was forked from.
        files: of files that it may write through a shared mapping, dirty or not.
    """

    anonymous: int
    inherited: int
    files: int

    @property
    def own(self) -> int:
        """What it took itself."""
        return self.anonymous - self.inherited + self.files


def pages_of(pid: int) -> Pages:
    """The pages of a process at this moment. Raises `OSError` where this process may not look."""
    anonymous = inherited = files = 0
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        resident = shared = without_file = 0
        for line in smaps:  # of each mapping its range, then its figures, the flags last
            name, _, said = line.partition(b":")
            if name == b"Rss":
                resident = int(said.split()[0])
            elif name == b"Shared_Dirty":
                shared = int(said.split()[0])
            elif name == b"Anonymous":
                without_file = int(said.split()[0])
            elif name == b"VmFlags":
                flags = said.split()
                anonymous += without_file
                inherited += min(shared, without_file)
                if b"ms" in flags and b"mw" in flags:  # may be shared, may be written: also where it is not just now
                    files += resident
    return Pages(anonymous << _KIBI, inherited << _KIBI, files << _KIBI)
