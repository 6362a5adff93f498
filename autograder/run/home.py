"""Where a student works: the assignment that a folder belongs to, and what answers for its reference there.

In an unpacked bundle both lie in `course/`. In a checkout the assignment is found by the folder's name, and the
reference itself answers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.assignment.assignment import MANIFEST, Assignment, load_assignment
from autograder.diagnosis.mistake_bank import Bank
from autograder.errors import SoftmarkError
from autograder.grading.known_mistakes import load_bank
from autograder.grading.recording import ANSWERS, CAUSES, Recording
from autograder.grading.reference import Oracle, Reference
from autograder.results import Outcome

_MEMORY = ".softmark.json"


@dataclass(frozen=True)
class Home:
    """A student's folder."""

    folder: Path
    assignment: Assignment
    oracle: Oracle
    bank: Bank

    def files(self) -> dict[str, str]:
        """A hash of each Python file here, by name."""
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(self.folder.glob("*.py"))}


class Memory(msgspec.Struct, frozen=True):
    """What the latest run found: outcomes by number, and the files that it found them in."""

    outcomes: dict[str, Outcome] = {}
    files: dict[str, str] = {}

    @classmethod
    def of(cls, folder: Path) -> Memory:
        """That of the folder; an empty one where there is none that can be read."""
        try:
            return msgspec.json.decode((folder / _MEMORY).read_bytes(), type=cls)
        except (OSError, msgspec.DecodeError):
            return cls()

    def save(self, folder: Path) -> None:
        """Write it; a folder that cannot be written to has none."""
        try:
            (folder / _MEMORY).write_bytes(msgspec.json.encode(self))
        except OSError:
            return


def home_of(folder: Path) -> Home:
    """The home that `folder` is. Raises `SoftmarkError` where it belongs to no assignment."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise SoftmarkError(f"{folder} is not a folder: give the folder of your starter code.")
    manifests = sorted(folder.glob(f"course/*/{MANIFEST}"))
    if not manifests:
        assignment = assignment_of(folder)
        return Home(folder, assignment, Reference(assignment), load_bank(assignment).at_home())
    assignment = load_assignment(manifests[0].parent)
    try:
        oracle = Recording((assignment.folder / ANSWERS).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise SoftmarkError(
            f"{assignment.folder / ANSWERS} cannot be read ({error}): unpack the folder course of the zip again."
        ) from None
    return Home(folder, assignment, oracle, Bank.load(assignment.folder / CAUSES))


def assignment_of(folder: Path) -> Assignment:
    """The assignment of a checkout that a folder of student code belongs to: by its name, else by the files in it."""
    for above in folder.parents:
        manifests = sorted((above / "assignments").glob(f"*/{MANIFEST}"))
        if not manifests:
            continue
        assignments = [load_assignment(path.parent) for path in manifests]
        named = [each for each in assignments if each.name == folder.name]
        fitting = [each for each in assignments if any((folder / part.file).is_file() for part in each.parts)]
        if named or len(fitting) == 1:
            return (named or fitting)[0]
    raise SoftmarkError(f"{folder} belongs to no assignment: run this in {_starter_folders(folder)}.")


def _starter_folders(folder: Path) -> str:
    """The folders of the nearest starter_code/, as a person would go there."""
    for above in (folder, *folder.parents):
        names = sorted(path.name for path in above.glob("starter_code/*/") if path.is_dir())
        if names:
            return f"a folder of {above / 'starter_code'} ({', '.join(names)})"
    return "the folder that you unpacked, with course/ in it"
