"""Folder, zip or notebook -> a clean source tree, or a sentence that says what is wrong with it.

It runs, imports and judges nothing of a student's. A file that is not Python is handed on as it stands: the worker's
import says what is wrong with it. A part that is missing is no fault here either: its functions are simply not there.
"""

from __future__ import annotations

import hashlib
import os
from itertools import islice
from pathlib import Path

import msgspec

from autograder.assignment.assignment import GIVEN, Assignment
from autograder.errors import GraderError, Unreadable
from autograder.intake.archive import OTHER_FORMATS, read_zip
from autograder.intake.files import (
    LARGEST_TOTAL,
    READ,
    Collected,
    is_junk,
    is_plain_name,
    read_file,
    read_folder,
    suffix_of,
)
from autograder.intake.limited import LimitReached, in_limited_process
from autograder.intake.matching import arrange
from autograder.results import Submitter

__all__ = ["SourceTree", "Submission", "Submitter", "Unreadable", "read_submission"]

SINGLE_FILES = (".zip", ".py", ".ipynb")
RENAMED_BY_BROWSERS = (".ipynb.txt", ".ipynb.json", ".py.txt")


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """What one student, or one group, handed in.

    `name` is a plain file name, unique among those found together. `submitters` and `created_at` (ISO 8601, as it was
    written) come from an export or a platform's metadata and are empty elsewhere; so does `due`, when it was due for
    these students, which exports do not tell. `staff` says what was odd about how it was found. `pieces` are the files
    of a hand-in that lie in `path` among those of others, by the names that their student gave them.
    """

    name: str
    path: Path
    pieces: tuple[tuple[str, Path], ...] = ()
    submitters: tuple[Submitter, ...] = ()
    created_at: str = ""
    due: str = ""
    staff: tuple[str, ...] = ()


class SourceTree(msgspec.Struct, frozen=True, kw_only=True):
    """The files that the worker sees, by their path below the folder, with `/`.

    `given` are the assignment's, and not of the hand-in. `notes` are said to the student; `staff` are not. `held` are
    other files, from which no part was taken.
    """

    files: dict[str, bytes]
    given: dict[str, bytes] = {}
    notes: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of what was handed in: names, lengths, contents. The order of the files does not matter."""
        state = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            encoded = name.encode("utf-8", "surrogatepass")
            state.update(b"%d %d\n" % (len(encoded), len(data)) + encoded + data)
        return state.hexdigest()

    def write(self, folder: Path) -> None:
        """Write the tree into a new or empty folder: folders 0755, files 0644, whatever the umask. No link is used."""
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        for name, data in (self.files | self.given).items():
            parent = folder
            for piece in name.split("/")[:-1]:
                parent = parent / piece
                parent.mkdir(exist_ok=True)
                parent.chmod(0o755)
            with os.fdopen(os.open(folder / name, flags, 0o644), "wb") as file:
                file.write(data)
            (folder / name).chmod(0o644)


_FEW, _SMALL = 20, 1 << 20  # files, and bytes of all of them, that are read here


class _Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the process that reads has to say: one of these."""

    tree: SourceTree | None = None
    unreadable: str = ""
    failed: str = ""


def read_submission(submission: Submission, assignment: Assignment) -> SourceTree:
    """Read what was handed in; in a process with limits of its own, unless it is a few small Python files and no more.

    Raises:
        Unreadable: nobody could read it; the sentence names the file, but no folder above it, and the remedy.
        GraderError: the parser of submissions does not start.
    """
    try:
        if not submission.pieces and _is_plain(submission.path):
            answer = _answer(submission, assignment)
        else:
            answer = msgspec.msgpack.decode(
                in_limited_process(lambda: msgspec.msgpack.encode(_answer(submission, assignment))), type=_Answer
            )
    except LimitReached:
        answer = _Answer(unreadable=_beyond_the_limits(submission))
    if answer.unreadable:
        raise Unreadable(answer.unreadable)
    if answer.tree is None:
        raise GraderError(answer.failed)
    return msgspec.structs.replace(answer.tree, given=assignment.given_files())


def _is_plain(path: Path) -> bool:
    """Whether nothing in it could cost a reader time or memory: text is decoded, and nothing is unpacked or parsed."""
    try:
        if path.is_symlink() or not path.is_dir():
            return False
        with os.scandir(path) as entries:
            files = list(islice(entries, _FEW + 1))
        return (
            len(files) <= _FEW
            and all(file.is_file(follow_symlinks=False) and file.name.endswith(".py") for file in files)
            and sum(file.stat(follow_symlinks=False).st_size for file in files) <= _SMALL
        )
    except OSError:
        return False  # whoever reads it says what is wrong with it


def _answer(submission: Submission, assignment: Assignment) -> _Answer:
    try:
        return _Answer(tree=_read(submission, assignment))
    except Unreadable as error:
        return _Answer(unreadable=str(error))
    except MemoryError:
        return _Answer(unreadable=_beyond_the_limits(submission))
    except Exception as error:  # a fault of ours
        return _Answer(failed=_writable(f"{type(error).__name__}: {error}"))


def _beyond_the_limits(submission: Submission) -> str:
    shown = submission.path.name or submission.name
    return f"{shown} could not be read within the limits of time and memory: hand in only your own source files."


def _read(submission: Submission, assignment: Assignment) -> SourceTree:
    path = submission.path
    shown = submission.name if submission.pieces else path.name or submission.name
    collected = Collected(shown, (*assignment.hand_in, *assignment.accept))
    if submission.pieces:
        _read_pieces(submission, collected)
    elif path.is_symlink():
        raise Unreadable(f"{shown} is a symbolic link, which is not followed: put the submission itself there.")
    elif path.is_dir():
        read_folder(path, collected)
    elif not path.exists():
        raise Unreadable(f"{shown} is missing, though it is listed: look for it where the list came from.")
    else:
        _read_single_file(path, collected)
    _open_inner_zip(collected)
    said = _without_given(collected, assignment)
    arranged = arrange(collected, assignment)
    return SourceTree(
        files=arranged.files,
        notes=tuple(map(_writable, [*arranged.notes, *said])),
        staff=tuple(map(_writable, arranged.staff)),
        held=tuple(map(_writable, arranged.held)),
    )


def _without_given(collected: Collected, assignment: Assignment) -> list[str]:
    """Take out what was handed in of the folder `given`, which is there anyway. What differs from it is told."""
    given = assignment.given_files()
    said: list[str] = []
    for name in list(collected.files) if given else []:
        _, found, below = f"/{name}".partition(f"/{GIVEN}/")
        if not found:
            continue
        data = collected.files.pop(name)
        if f"{GIVEN}/{below}" not in given:
            said.append(
                f"{name} was ignored, since {GIVEN}/ is the handout's: put files of your own beside your parts."
            )
        elif data != given[f"{GIVEN}/{below}"]:
            said.append(f"{name} is not the handout's any more; its own was there when your work was graded.")
    return said


def _read_pieces(submission: Submission, collected: Collected) -> None:
    if len(submission.pieces) == 1 and suffix_of(submission.pieces[0][0]) not in READ:
        _read_single_file(submission.pieces[0][1], collected)  # says what is wrong with it
    for name, path in submission.pieces:
        if path.is_dir():
            read_folder(path, collected)
        elif is_plain_name(name) and not is_junk(name) and collected.wants(name, path.stat().st_size):
            collected.add(name, read_file(path, name))


def _writable(text: str) -> str:
    """Without lone surrogates: the name of a file may hold bytes that are no text."""
    return text.encode("utf-8", "backslashreplace").decode()


def _read_single_file(path: Path, collected: Collected) -> None:
    suffix = suffix_of(path.name)
    if suffix == ".zip":
        read_zip(read_file(path, path.name), path.name, collected)
        return
    data = read_file(path, path.name)
    if not path.name.lower().endswith((*SINGLE_FILES, *RENAMED_BY_BROWSERS)):
        for magic, what in OTHER_FORMATS:
            if data.startswith(magic):
                raise Unreadable(f"{path.name} is {what}: hand in a .zip, or the files themselves.")
        raise Unreadable(f"{path.name} is neither .py nor .ipynb nor .zip: hand in one of these, or a folder of them.")
    name = path.name if is_plain_name(path.name) else f"submission{suffix}"
    if collected.wants(name, len(data)):
        collected.add(name, data)


def _open_inner_zip(collected: Collected) -> None:
    """The zips within the folder or zip: one level, within the bounds of the whole.

    Beside code, a zip that cannot be read is only noted, and its files stand below its name.
    """
    has_code = any(suffix_of(name) in (".py", ".ipynb") for name in collected.files)
    total = collected.total
    for name in [name for name in collected.files if suffix_of(name) == ".zip"]:
        data = collected.files.pop(name)
        if not has_code:
            prefix = name.rpartition("/")[0]
            read_zip(data, f"{collected.shown}: {name}", collected, prefix and f"{prefix}/")
            continue
        if total > LARGEST_TOTAL:
            collected.unopened[name] = f"{name} was not opened, since there is too much before it."
            continue
        inner = Collected(name, collected.accept, total=total)
        try:
            read_zip(data, name, inner, f"{name}/")
        except Unreadable as error:
            collected.unopened[name] = str(error)
            continue
        finally:
            total = inner.total
        if any(suffix_of(file) in (".py", ".ipynb") for file in inner.files):
            for file, content in inner.files.items():
                collected.add(file, content)
            collected.left_out += inner.left_out
            collected.too_large += inner.too_large
