"""Where things lie on the platform, and what the package says of itself; closes to others what they must not read.

The folders are the platform's: `source` is the unpacked zip, `submission` what was handed in, `results` where we write.
It grades nothing.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.errors import SoftmarkError
from autograder.gradescope import metadata

ROOT = Path("/autograder")
SETTINGS = "package.json"
COURSE = "course"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the zip says of itself (`package.json` at its root).

    `assignment` is a folder below `course/assignments`; `digest` is that of the whole assignment, mistakes and variants
    included, which the zip leaves out; `allow_missing` are layers of the sandbox given up by name.
    """

    assignment: str
    digest: str
    softmark: str
    allow_missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The folders of one run."""

    root: Path = ROOT
    source: Path = ROOT / "source"

    @property
    def submission(self) -> Path:
        """What the student handed in."""
        return self.root / "submission"

    @property
    def results(self) -> Path:
        """The file that the platform reads."""
        return self.root / "results" / "results.json"

    @property
    def metadata(self) -> Path:
        """What the platform says of the submission."""
        return self.root / metadata.FILE

    def settings(self) -> Settings:
        """Raises `SoftmarkError` where the package is not whole."""
        path = self.source / SETTINGS
        try:
            return msgspec.json.decode(path.read_bytes(), type=Settings)
        except (OSError, msgspec.DecodeError) as error:
            raise SoftmarkError(
                f"{path} could not be read ({error}): upload the zip again as softmark package made it.", exit_code=1
            ) from None

    def assignment(self, settings: Settings) -> Path:
        """The folder of the assignment."""
        return self.source / COURSE / "assignments" / settings.assignment


def close_to_others(layout: Layout) -> list[str]:
    """Let nobody but this user read `source` and the metadata (which holds earlier results), nor write where we do.

    Returns what could not be closed. Whether workers are kept out is proved later, by trying.
    """
    faults: list[str] = []
    for path in (layout.source, *sorted(layout.source.rglob("*")), layout.metadata):
        _take_away(path, stat.S_IRWXG | stat.S_IRWXO, faults)
    for path in (layout.root, layout.root / "submission", layout.results.parent):
        _take_away(path, stat.S_IWGRP | stat.S_IWOTH, faults)
    return faults


def _take_away(path: Path, bits: int, faults: list[str]) -> None:
    try:
        before = path.lstat()
        if stat.S_ISLNK(before.st_mode):
            return
        if os.geteuid() == 0 and before.st_uid != 0:
            os.chown(path, 0, 0, follow_symlinks=False)
        if before.st_mode & bits:
            path.chmod(stat.S_IMODE(before.st_mode) & ~bits)
    except FileNotFoundError:
        return
    except OSError as error:
        faults.append(f"{path} could not be closed to other users ({error.strerror}).")
