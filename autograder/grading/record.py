"""The record of a grade: `OUT/<submission>/grade.json`, its key, its atomic writing, and what makes it stale.

Everything else that is written of a grade (results.json, CSV, pages) is made from it and can be made again: see `run`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.assignment.late import ACCOMMODATIONS
from autograder.assignment.leftovers import meant_files
from autograder.errors import SoftmarkError
from autograder.results import Grade, Key, Versions, from_json, to_json


def key_of(submission_digest: str, assignment_digest: str) -> Key:
    """What a grade of this submission depends on, here and now."""
    return Key(submission=submission_digest, assignment=assignment_digest, grader=grader_digest(), versions=versions())


def assignment_digest(assignment: Assignment) -> str:
    """A hash of the manifest, the checks, the handout and the solutions.

    Extra time for one student does not make a grade stale: lateness is counted anew whenever a grade is read.
    """
    return _digest_of([assignment.folder, assignment.solutions])


@cache
def grader_digest() -> str:
    """A hash of the sources of this package."""
    return _digest_of([Path(__file__).parents[1]])


@cache
def versions() -> Versions:
    """The versions that a grade depends on; no module is imported for it."""
    return Versions(softmark=version("softmark"), torch=version("torch"), python=platform.python_version())


def _digest_of(folders: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for path in meant_files(folder):
            if path.name != ACCOMMODATIONS:
                content = path.read_bytes()
                digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
                digest.update(content)
    return digest.hexdigest()


def folder_of(out: Path, submission: str) -> Path:
    """Where the files of one submission's grade lie."""
    return out / submission


def read(out: Path, submission: str) -> Grade | None:
    """The recorded grade, or None if there is none that can be read."""
    try:
        return from_json((folder_of(out, submission) / "grade.json").read_bytes())
    except (OSError, msgspec.DecodeError, ValueError):
        return None


def is_current(grade: Grade | None, key: Key) -> bool:
    """Whether a recorded grade still holds. An incomplete or ungraded one never does."""
    return grade is not None and grade.status == "graded" and grade.key == key


def write(out: Path, grade: Grade) -> None:
    """Write grade.json: whole, or not at all."""
    write_atomically(made_folder(out, grade.submission) / "grade.json", to_json(grade))


def made_folder(out: Path, submission: str) -> Path:
    """The folder of one submission's grade, made where it is not there. Nobody else may look into it."""
    folder = folder_of(out, submission)
    with _told(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def write_atomically(path: Path, content: bytes, *, durably: bool = True) -> None:
    """Write beside the target, rename: no reader ever sees half a file. Only the owner may read it.

    `durably` waits for the disk before the rename, so that a machine that fails takes neither the old nor the new file.
    Raises `SoftmarkError` where the disk is full or the place is taken.
    """
    with _told(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                if durably:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def _told(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SoftmarkError(
            f"{path} could not be written ({error.strerror or error}). What was graded before is kept: make room for "
            "it, and the same command goes on from there."
        ) from error
