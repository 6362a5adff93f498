"""Folder, zip or notebook -> a clean source tree, or a sentence that says what is wrong with it.

It runs, imports and judges nothing of a student's. A file that is not Python is handed on as it stands: the worker's
import says what is wrong with it. A part that is missing is no fault here either: its functions are simply not there.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from autograder.assignment import Assignment
from autograder.errors import SoftmarkError


class Unreadable(SoftmarkError):
    """Nobody could read what was handed in: the grade is `ungraded`, with this sentence as its reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, exit_code=1)


class Submitter(msgspec.Struct, frozen=True, kw_only=True):
    """One person of those who handed in, as an export names them. `sid` is text: leading zeros count."""

    name: str = ""
    sid: str = ""
    email: str = ""


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What one student, or one group, handed in. `name` is a safe file name, unique among those found together."""

    name: str
    path: Path
    submitters: tuple[Submitter, ...] = ()
    created_at: str = ""


class SourceTree(msgspec.Struct, frozen=True, kw_only=True):
    """The files that the worker sees, by their path below the folder, with `/`.

    `notes` are said to the student; `staff` are not.
    """

    files: dict[str, bytes]
    notes: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 over names, lengths and contents, in hexadecimal. The order of the files does not matter."""
        state = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            encoded = name.encode("utf-8", "surrogateescape")
            state.update(b"%d %d\n" % (len(encoded), len(data)) + encoded + data)
        return state.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the tree into a new or empty folder: folders 0755, files 0644, whatever the umask; nothing is followed."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        for name, data in self.files.items():
            parent = folder
            for piece in name.split("/")[:-1]:
                parent = parent / piece
                parent.mkdir(exist_ok=True)
                parent.chmod(0o755)
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o644)
                file.write(data)


def find_submissions(path: Path | str, assignment: Assignment) -> list[Submission]:
    """One submission (a folder that holds a part's file, a zip, a `.py`, an `.ipynb`), or a folder of them, by name.

    Raises:
        SoftmarkError: no such path, or nothing in it that could be a submission.
    """
    path = Path(path)
    if not path.exists():
        raise SoftmarkError(f"There is no {path}: give a submission, or a folder of submissions.")
    if path.is_file() or any((path / part.file).is_file() for part in assignment.parts):
        return [Submission(name=path.resolve().stem, path=path)]
    found = [
        Submission(name=child.name, path=child)
        for child in sorted(path.iterdir())
        if child.is_dir() and not child.name.startswith(".")
    ]
    if not found:
        raise SoftmarkError(f"{path} holds no submission: expected a folder, .zip, .py or .ipynb for each.")
    return found


def read_submission(submission: Submission, assignment: Assignment) -> SourceTree:
    """Read what was handed in.

    Raises:
        Unreadable: nobody could read it; the sentence names the path and the remedy.
    """
    path = submission.path
    wanted = {".py", ".json", ".txt", ".safetensors"}
    files = {
        child.name: child.read_bytes() for child in sorted(path.iterdir()) if child.suffix in wanted and child.is_file()
    }
    if not files:
        raise Unreadable(f"{path} holds no file that could be graded: expected {assignment.parts[0].file}.")
    missing = [part for part in assignment.parts if part.file not in files]
    return SourceTree(files=files, notes=tuple(f"{part.file} was not handed in." for part in missing))
