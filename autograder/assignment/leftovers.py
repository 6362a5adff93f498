"""What programs leave behind in a folder, and nobody means to be there: caches, backups, swap files, a desktop's notes.

It counts neither as part of an assignment (a grade is not stale because an editor is open) nor as something to give to
students or to pack. What students hand in has rules of its own (`intake.files`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

_FOLDERS = frozenset(
    {
        "__pycache__",
        ".git",
        ".hypothesis",
        ".idea",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".vscode",
    }
)
_FILES = (
    "*.pyc",
    "*~",  # a backup of many editors
    "#*#",  # Emacs, not saved yet
    ".#*",  # Emacs, a lock
    ".*.sw?",  # Vim, open
    "*.swp",
    "*.bak",
    "*.orig",  # of a merge
    "*.rej",
    "._*",  # macOS on foreign disks
    ".DS_Store",
    "Thumbs.db",
    "desktop.ini",
)


def is_leftover(path: PurePath) -> bool:
    """Whether a path, relative to the folder in question, is such a file or lies in such a folder."""
    return not _FOLDERS.isdisjoint(path.parts) or any(fnmatchcase(path.name, pattern) for pattern in _FILES)


def meant_files(folder: Path) -> Iterator[Path]:
    """The files below a folder that somebody meant to be there, sorted by path; none where there is no folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not is_leftover(path.relative_to(folder)):
            yield path
