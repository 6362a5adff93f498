"""A folder on disk -> the files in it that could matter, within bounds.

Only regular files are read, no link is followed, and what is plainly not the student's work (caches, virtual
environments, macOS's shadows) is passed over. It does not decide which file is which part.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from autograder.errors import Unreadable

MEGABYTE = 1 << 20
KEPT = frozenset({".py", ".json", ".txt", ".safetensors"})
"""What a worker may see. Everything else is read only to find these in it, or not at all."""
READ = KEPT | {".ipynb", ".zip"}
MISSED = frozenset(
    {".pt", ".pth", ".pkl", ".pickle", ".npy", ".npz", ".ckpt", ".bin", ".csv", ".so", ".pyd", ".pyc", ".dll"}
)
"""What a student's code may want and does not get; said to the student."""
LARGEST = {".py": 4 * MEGABYTE, ".json": 16 * MEGABYTE, ".txt": 16 * MEGABYTE, ".ipynb": 64 * MEGABYTE}
LARGEST_OTHER = 128 * MEGABYTE
LARGEST_TOTAL = 256 * MEGABYTE
MOST_FILES = 2000
DEEPEST = 16
JUNK_FOLDERS = frozenset({"__pycache__", "__MACOSX", "venv", "env", "node_modules", "site-packages", "checks"})
JUNK_FILES = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py", "setup.py"})


@dataclass
class Collected:
    """What was found: contents by path below the folder (with `/`), and what was passed over though it may matter.

    One object accounts for a whole submission, archives inside it included, so that its bounds hold for all together.
    `accept` are patterns of data files that are kept though their suffix is none of `KEPT`.
    """

    shown: str
    accept: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    left_out: list[str] = field(default_factory=list[str])
    too_large: list[str] = field(default_factory=list[str])
    twice: list[str] = field(default_factory=list[str])
    passed_over: list[str] = field(default_factory=list[str])
    unopened: dict[str, str] = field(default_factory=dict[str, str])
    total: int = 0

    def keeps(self, name: str) -> bool:
        """Whether a worker may see a file of that name."""
        file = name.rpartition("/")[2].casefold()
        return suffix_of(name) in KEPT or any(fnmatchcase(file, pattern.casefold()) for pattern in self.accept)

    def wants(self, name: str, size: int) -> bool:
        """Whether to read that file. What is left out but may be missed is remembered."""
        suffix, kept = suffix_of(name), self.keeps(name)
        if suffix in MISSED and not kept:
            self.left_out.append(name)
        if suffix not in READ and not kept:
            if is_plain_name(name):
                self.passed_over.append(name)
            return False
        if size > LARGEST.get(suffix, LARGEST_OTHER):
            self.too_large.append(f"{name} ({size / MEGABYTE:,.0f} MB)")
            return False
        return True

    def add(self, name: str, data: bytes) -> None:
        """Keep a file. Raises `Unreadable` once there are too many, or too much in them."""
        name = unicodedata.normalize("NFC", name)
        if self.files.get(name, data) != data:
            self.twice.append(name)
        self.files[name] = data
        self.total += len(data)
        if len(self.files) > MOST_FILES:
            raise Unreadable(f"{self.shown} holds more than {MOST_FILES:,} files: hand in only your own.")
        if self.total > LARGEST_TOTAL:
            limit = LARGEST_TOTAL // MEGABYTE
            raise Unreadable(f"{self.shown} unpacks to more than {limit} MB: hand in only your own source files.")


def suffix_of(name: str) -> str:
    """The suffix of a name, lower case: `Attention.PY` is Python too."""
    return PurePosixPath(name).suffix.lower()


def is_junk(name: str) -> bool:
    """Whether a path (with `/`) is something that no student wrote, or that would be ours."""
    *folders, file = name.split("/")
    return any(folder in JUNK_FOLDERS or folder.startswith(".") for folder in folders) or (
        file.startswith((".", "~$")) or file in JUNK_FILES
    )


def read_folder(folder: Path, collected: Collected) -> None:
    """Read what matters in a folder and below it into `collected`.

    Raises:
        Unreadable: a link, a file or folder that may not be read, or too much of anything.
    """
    _read_folder(folder, "", collected)


def _read_folder(folder: Path, prefix: str, collected: Collected) -> None:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise _closed(prefix.rstrip("/") or collected.shown, error) from error
    if prefix and any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        name = prefix + entry.name
        if is_junk(name) or is_junk(f"{name}/"):
            continue
        if entry.is_symlink() and suffix_of(name) in READ | {""}:
            raise Unreadable(f"{name} is a symbolic link, which is not followed: put the file itself there.")
        if entry.is_symlink():
            collected.passed_over.append(name)
        elif entry.is_dir(follow_symlinks=False):
            if prefix.count("/") + 1 < DEEPEST:
                _read_folder(Path(entry.path), f"{name}/", collected)
        elif collected.wants(name, _size(entry, name)) and is_plain_name(name):
            collected.add(name, read_file(Path(entry.path), name))


def _size(entry: os.DirEntry[str], name: str) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError as error:
        raise _closed(name, error) from error


def _closed(shown: str, error: OSError) -> Unreadable:
    return Unreadable(f"{shown} could not be read ({error.strerror}): make it readable (chmod -R u+rX).")


def is_plain_name(name: str) -> bool:
    """Whether a path can be shown and written again as it stands: no control characters or lone bytes, not long."""
    return name.isprintable() and len(name) <= 1000 and all(len(piece.encode()) <= 200 for piece in name.split("/"))


_UNTRUSTED = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def beginning(path: Path, most: int) -> bytes:
    """The first bytes of a regular file, not through a link; none of a pipe or of what cannot be read."""
    try:
        with os.fdopen(os.open(path, _UNTRUSTED), "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def read_file(path: Path, shown: str) -> bytes:
    """The content of a regular file, not through a link, at most 128 MB. Raises `Unreadable`, which says `shown`."""
    try:
        descriptor = os.open(path, _UNTRUSTED)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise Unreadable(f"{shown} is not a regular file: put a copy of the file there.")
            data = file.read(LARGEST_OTHER + 1)
    except OSError as error:
        raise Unreadable(f"{shown} could not be read ({error.strerror}): make it readable (chmod u+r).") from error
    if len(data) > LARGEST_OTHER:
        raise Unreadable(f"{shown} is larger than {LARGEST_OTHER // MEGABYTE} MB: hand in only your own source files.")
    return data
