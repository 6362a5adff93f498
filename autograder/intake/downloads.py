"""What learning platforms hand out as a folder of all hand-ins -> who handed in what. One reader a format.

`READERS` is the registry: each reader looks at the names in a folder and returns the submissions, or None where the
folder is not of its format. Of a folder only names are read, and of nbgrader's timestamp.txt the first bytes. A
Gradescope export, which has a list of its own, is read by `export`.

| format | what it is known by |
|---|---|
| Moodle | `Full name_12345_assignsubmission_file` (a folder, or followed by `_name.py`) |
| Canvas | `name_LATE_userid_fileid_name.py`: several flat files a student |
| nbgrader | `submitted/student/assignment/notebook.ipynb` |
| GitHub Classroom | clones `assignment-login` side by side |
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.intake.files import KEPT, LARGEST_OTHER, beginning, suffix_of
from autograder.intake.submission import Submission
from autograder.results import Submitter

MOODLE = re.compile(
    r"(?P<name>.*?)_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?:_(?P<file>.*))?", re.DOTALL
)
CANVAS = re.compile(
    r"(?:(?P<name>.+?)_)?(?:(?P<late>LATE)_)?(?P<id>\d+|anon_[^_]+)_(?:(?P<file_id>\d+)_(?P<file>.+)|(?:text|link)\.html)",
    re.DOTALL,
)
HANDED_IN_AGAIN = re.compile(r"-\d+(?=\.\w+$)")
"""Canvas puts a number behind the name of a file that was handed in again."""
LATE = "late: Canvas marks this hand-in as late, but does not say when it was handed in."
_MOST_MEMBERS, _CHUNK = 200_000, 1 << 20


class Download(NamedTuple):
    """A folder of a format: its name in a sentence, the submissions, and files in it that belong to nobody."""

    form: str
    submissions: list[Submission]
    others: Sequence[Path] = ()


def read_download(folder: Path, children: Sequence[Path], assignment: Assignment) -> Download | None:
    """The submissions in a folder that a platform made; None where no format is recognised.

    Args:
        folder: the folder that was named.
        children: what in it could be a hand-in, in order.
        assignment: decides which assignment of a course's tree is meant.

    Raises:
        SoftmarkError: the folder holds hand-ins of several assignments, and nobody can tell which are meant.
    """
    found = (reader(folder, children, assignment) for reader in READERS)
    return next((download for download in found if download is not None), None)


# ------------------------------------------------------------------ Moodle and Canvas


def _moodle(_folder: Path, children: Sequence[Path], _assignment: Assignment) -> Download | None:
    matched = {child: match for child in children if (match := MOODLE.fullmatch(child.name))}
    if not matched:
        return None
    people = defaultdict[str, list[tuple[str, Path]]](list)
    names: dict[str, str] = {}
    for child, match in matched.items():
        name = match["name"].replace("_", " ").strip()
        names[match["id"]] = "" if name == "Participant" else name
        people[match["id"]].append(((match["file"] or "") if child.is_file() else "", child))
    found = [_together("moodle", names[who], who, pieces) for who, pieces in people.items()]
    return Download("a Moodle download", found, [child for child in children if child not in matched])


def _canvas(_folder: Path, children: Sequence[Path], _assignment: Assignment) -> Download | None:
    matched = {child: match for child in children if child.is_file() and (match := CANVAS.fullmatch(child.name))}
    files = [match["file_id"] for match in matched.values() if match["file_id"]]
    names = defaultdict[str, set[str]](set)
    for match in matched.values():
        names[match["id"]].add(match["name"] or "")
    # student_1_1_x.py looks like it: there, names are of one user, numbers of one file, and not all are called alike.
    distinct = {name for each in names.values() for name in each}
    alike = len(distinct) == 1 and (len(names) > 1 or all(len(who) < 4 for who in names))
    anonymous = all(who.startswith("anon_") for who in names)
    if (
        2 * len(matched) <= len(children)
        or len(set(files)) < len(files)
        or any(len(each) > 1 for each in names.values())
        or (alike and not anonymous)
    ):
        return None
    people = defaultdict[str, list[tuple[str, Path]]](list)
    late = {match["id"] for match in matched.values() if match["late"]}
    for child, match in matched.items():
        people[match["id"]].append((match["file"] or child.name, child))
    found = [
        _together("canvas", min(names[who]), who, _as_handed_in(pieces), (LATE,) if who in late else ())
        for who, pieces in people.items()
    ]
    return Download("a Canvas download", found, [child for child in children if child not in matched])


def _as_handed_in(pieces: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """Without the number that Canvas appends, where no other file then has that name.

    A data file is there under both names: the number may be the student's own, and their code opens it by its name.
    """
    plain = [HANDED_IN_AGAIN.sub("", name) for name, _ in pieces]
    found: list[tuple[str, Path]] = []
    for short, (name, path) in zip(plain, pieces, strict=True):
        is_free = suffix_of(name) in KEPT and plain.count(short) == 1
        names = [short] if is_free and suffix_of(name) == ".py" else dict.fromkeys((name, short)) if is_free else [name]
        found += [(each, path) for each in names]
    return found


def _together(
    platform: str, name: str, who: str, pieces: list[tuple[str, Path]], staff: tuple[str, ...] = ()
) -> Submission:
    """The hand-in of one person: a folder or zip as it stands, or several files under the names they had."""
    person = (Submitter(name=name, id=f"{platform}:{who}"),)
    called = f"{name}_{who}" if name else who
    if len(pieces) == 1 and pieces[0][1].is_dir():
        return Submission(name=called, path=pieces[0][1], submitters=person, staff=staff)
    named = {(name or path.name): path for name, path in pieces}
    return Submission(
        name=called, path=pieces[0][1].parent, pieces=tuple(sorted(named.items())), submitters=person, staff=staff
    )


# ------------------------------------------------------------------ nbgrader and GitHub Classroom


def _nbgrader(folder: Path, children: Sequence[Path], assignment: Assignment) -> Download | None:
    """`submitted/`, or the course's folder with it inside."""
    if folder.name != "submitted":
        course = any((folder / name).exists() for name in ("source", "release", "nbgrader_config.py", "gradebook.db"))
        if not (folder / "submitted").is_dir() or not course:
            return None
        folder = folder / "submitted"
        children = [child for child in sorted(folder.iterdir()) if not child.name.startswith(".")]
    inner = {child: _folders_in(child) for child in children if child.is_dir()}
    if not inner or any(_has_code(child) for child in inner):
        return None
    every = sorted({path.name for paths in inner.values() for path in paths})
    wanted = [name for name in every if name == assignment.name] or every
    if len(wanted) != 1:
        raise SoftmarkError(
            f"{folder} holds hand-ins of {', '.join(every) or 'no assignment'}, and none is called {assignment.name}: "
            f"rename the one that is meant, or give a folder with its hand-ins alone."
        )
    found = [
        Submission(
            name=child.name,
            path=child / wanted[0],
            submitters=(Submitter(sid=child.name),),
            created_at=_timestamp(child / wanted[0]),
        )
        for child, paths in inner.items()
        if child / wanted[0] in paths
    ]
    return Download(f"hand-ins of {wanted[0]} collected by nbgrader", found)


def _timestamp(folder: Path) -> str:
    """What nbgrader wrote beside a hand-in; "" where there is none that can be read as a time."""
    said = beginning(folder / "timestamp.txt", 100).decode("utf-8", "replace").strip()
    return said if said.isprintable() else ""


def _classroom(folder: Path, children: Sequence[Path], _assignment: Assignment) -> Download | None:
    """Clones whose names begin alike, up to a hyphen; the rest is the login."""
    if not children or not all(child.is_dir() for child in children):
        return None
    slug = folder.name.removesuffix("-submissions")
    if slug == folder.name or not all(child.name.startswith(f"{slug}-") for child in children):
        if len(children) < 2 or not all(os.path.isdir(child / ".git") for child in children):
            return None
        names = [child.name for child in children]
        shared = [all(name.startswith(names[0][:end]) for name in names) for end in range(len(names[0]) + 1)]
        slug = names[0][: shared.index(False) if False in shared else len(names[0])].rpartition("-")[0]
        if not slug:
            return None
    found = [
        Submission(name=child.name, path=child, submitters=(Submitter(id=f"github:{child.name[len(slug) + 1 :]}"),))
        for child in children
    ]
    return Download(f"GitHub Classroom clones of {slug}", found)


def _folders_in(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith((".", "__"))]


def _has_code(folder: Path) -> bool:
    return any(suffix_of(path.name) in (".py", ".ipynb", ".zip") for path in folder.iterdir())


Reader = Callable[[Path, Sequence[Path], Assignment], "Download | None"]
READERS: tuple[Reader, ...] = (_moodle, _canvas, _nbgrader, _classroom)


# ------------------------------------------------------------------ a download that is still packed


def is_packed_download(names: Iterable[str]) -> bool:
    """Whether a zip with these members is what Moodle or Canvas hands out for a whole class.

    Somebody may have unpacked it and packed it again: with a folder around all of it, and files that macOS adds.
    """
    paths = [[each for each in name.split("/") if each] for name in names]
    paths = [path for path in paths if path and not any(each.startswith(("__MACOSX", ".")) for each in path)]
    while len({path[0] for path in paths}) == 1 and not MOODLE.fullmatch(paths[0][0]):
        paths = [path[1:] for path in paths if len(path) > 1]
    tops = {path[0]: len(path) > 1 for path in paths}
    if any(MOODLE.fullmatch(top) for top in tops):
        return True
    matches = [None if is_folder else CANVAS.fullmatch(top) for top, is_folder in tops.items()]
    people = {match["id"]: match["name"] for match in matches if match}
    return len(people) > 1 and len(set(people.values())) > 1 and 2 * sum(map(bool, matches)) > len(tops)


def _made(top: Path, name: PurePosixPath) -> BinaryIO:
    """A new file for `name` below `top`; where no file can be called that, one that begins like it: the same person's.

    Names are students': one of 300 letters, or that of another's folder, must not stop the class.
    """
    try:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        return open(top / name, "xb")
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
            raise
    begins = name.parts[0].encode()[:150].decode("utf-8", "ignore")
    return open(top / f"{begins}~{os.urandom(6).hex()}", "xb")


def unpacked(path: Path) -> Path:
    """The files of a packed download in a folder that is removed when this process ends. No link is made.

    Raises:
        SoftmarkError: damaged, or with a name that leads out of the archive.
    """
    home = tempfile.TemporaryDirectory(prefix="softmark-download-")
    _KEPT.append(home)
    top = Path(home.name) / path.stem
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist()[:_MOST_MEMBERS]:
                name = PurePosixPath(member.filename.replace("\\", "/"))
                if name.is_absolute() or ".." in name.parts or "\0" in member.filename:
                    raise SoftmarkError(f"{path} holds {member.filename!r}, which leads out of it: download it again.")
                if member.is_dir() or stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
                    continue
                with archive.open(member) as source, _made(top, name) as target:
                    left = LARGEST_OTHER + 1  # of one that is larger so much that it is refused as too large
                    while left > 0 and (block := source.read(min(_CHUNK, left))):
                        left -= target.write(block)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        raise SoftmarkError(f"{path} could not be unpacked ({error}): download it again.") from error
    return top


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
