"""What stands at a path -> the submissions there: one hand-in, a folder of hand-ins, or an export with its list.

Which of these a folder is, in the order in which it is asked:

1. An export, where its list (`submission_metadata.yml`) lies in the folder that was named, or in the only thing in it.
   A list beside a part's file, or deeper, must name folders that are there: else it is a student's file.
2. A platform's download, where names in it say so (`downloads`).
3. One hand-in, where a part's file lies in it. With two folders or zips beside it that hold parts as well it is a
   folder of hand-ins, and the file is one of them; with one such folder nobody can tell, and it is refused.
4. One hand-in, where all that lies in it is a piece of one: source files of different parts, `src/`, pictures.
5. A folder of hand-ins: each folder and file in it is one, but for lists and logs.

Students' files are searched for names here; none is parsed.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from autograder.assignment.assignment import Assignment, Part
from autograder.errors import SoftmarkError
from autograder.intake.downloads import Download, is_packed_download, read_download, unpacked
from autograder.intake.export import METADATA, lists_what_is_there, read_metadata
from autograder.intake.files import beginning, is_junk, suffix_of
from autograder.intake.submission import SINGLE_FILES, Submission

NOBODYS_NAMES = ("desktop.ini", "thumbs.db", "readme", "roster")
NOBODYS_SUFFIXES = (".csv", ".tsv", ".xlsx", ".xls", ".ods", ".yml", ".yaml", ".log", ".toml")
"""What stands beside submissions and is none. Any other file is found, so as to end as ungraded and not as nothing."""
PICTURES = (".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".md", ".html")
GENERIC = r"(?:src|source|code|hw|homework|assignment|exercise|sheet|part|task|solutions?|final|{})[\W_]*\d{{0,2}}"
"""What students call a folder within their hand-in."""
IMPORTED = re.compile(rb"\b(?:from|import)[ \t]+(\w+)")
RESERVED = (
    *("", "grades.csv", "people.csv", "run.json", "overrides.jsonl", "history.jsonl", "gradebook.sqlite"),
    *(f"export-{form}.csv" for form in ("csv", "canvas", "moodle", "gradescope")),
    *("report.html", "report-anonymous.html", "report", "feedback", "feedback-moodle.zip", "feedback-canvas.zip"),
    "similar.html",
)
"""Names that no submission has: they stand beside the grades."""
_MOST_PIECES = 30
_LARGEST_ZIP = 32 << 20  # of which the list of members is looked at
_MOST_FILES, _LARGEST = 200, 4 << 20  # that are searched for a part in one folder, and of each so many bytes


class Found(NamedTuple):
    """What stands at a path: the submissions by name, and what the path was taken for ("a Canvas download").

    `unmatched` are submissions of which nobody is known though their platform names people.
    """

    form: str
    submissions: list[Submission]
    unmatched: tuple[str, ...] = ()


def find_submissions(path: Path | str, assignment: Assignment) -> list[Submission]:
    """Every submission at a path, by name. Raises what `find` raises."""
    return find(path, assignment).submissions


def find(path: Path | str, assignment: Assignment) -> Found:
    """Every submission at a path (one submission, a folder of them, or what a platform hands out), by name.

    Raises:
        SoftmarkError: no such path, nothing there that could be a submission, or nobody can tell what is one.
    """
    path = Path(path)
    try:
        return _find(path, assignment)
    except OSError as error:
        raise SoftmarkError(f"{error.filename or path} could not be read: {error.strerror}.") from error


def _find(path: Path, assignment: Assignment) -> Found:
    if not path.exists():
        raise SoftmarkError(f"There is no {path}: give a submission, or a folder of submissions.")
    if not path.is_dir():
        _refuse_packed_export(path)
        if is_packed_download(_names_in_zip(path)):
            return _find(unpacked(path), assignment)
        return Found("one submission", [Submission(name=_plain(path.stem), path=path.resolve())])
    loose = {part.file for part in assignment.parts if _is_regular(path / part.file)}
    metadata = _metadata_in(path)
    if metadata is not None and (not loose or lists_what_is_there(metadata)):
        listed = _exported(metadata, loose)
        if listed:
            return _of_people("a Gradescope export", listed)
    children = [child for child in sorted(path.iterdir()) if _is_submission(child)]
    download = None if loose else read_download(path, children, assignment)
    if download is not None:
        return _downloaded(download)
    if len(children) == 1:
        _refuse_packed_export(children[0])
        if (inside := _download_in(children[0], assignment)) is not None:
            return inside
    one = Submission(
        name=_plain(os.path.basename(os.path.abspath(path))), path=path.resolve(), staff=_note_on_list(path)
    )
    if (loose and not _are_beside(loose, children, assignment)) or _are_pieces(children, assignment):
        return Found("one submission", [one])
    if not children:
        raise SoftmarkError(f"{path} holds no submission: expected a folder, .zip, .py or .ipynb for each.")
    exports = [child for child in children if child.is_dir() and _is_export(child, assignment)]
    if {child.stem if suffix_of(child.name) == ".zip" else child.name for child in children} == {
        e.name for e in exports
    }:
        if len(exports) > 1:
            raise SoftmarkError(f"{path} holds several exports: give one of {', '.join(e.name for e in exports)}.")
        return _find(exports[0], assignment)
    return Found("a folder of submissions", _named(children, loose))


def _download_in(child: Path, assignment: Assignment, folders: int = 3) -> Found | None:
    """What a platform handed out, where it is the only thing in the folder that was named (or in that); else None."""
    if is_packed_download(_names_in_zip(child)):
        return _find(child, assignment)
    try:
        inner = [path for path in sorted(child.iterdir()) if _is_submission(path)]
    except OSError:  # a file, or a folder that may not be read
        return None
    if (download := read_download(child, inner, assignment)) is not None:
        return _downloaded(download)
    return _download_in(inner[0], assignment, folders - 1) if len(inner) == 1 and folders else None


def _of_people(form: str, submissions: list[Submission]) -> Found:
    nobodys = tuple(each.name for each in submissions if not each.submitters)
    return Found(form, sorted(submissions, key=lambda each: each.name), nobodys)


def _downloaded(download: Download) -> Found:
    """The submissions of a platform's download under names that are safe as a folder's, and what it does not know."""
    submissions: list[Submission] = []
    taken: set[str] = set()
    for each in sorted(download.submissions, key=lambda each: each.name):
        plain = name = _plain(each.name)
        number = 2
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add(name)
        staff = each.staff if each.pieces else (*each.staff, *_note_on_list(each.path))
        submissions.append(msgspec.structs.replace(each, name=name, staff=staff))
    return _of_people(download.form, submissions + _named(list(download.others), (), taken))


def _named(children: list[Path], loose: Collection[str], taken: Collection[str] = ()) -> list[Submission]:
    return [
        Submission(name=name, path=child, staff=_note_on_list(child) if child.name not in loose else (_note_on(child),))
        for name, child in zip(_names(children, taken), children, strict=True)
    ]


def _note_on(loose: Path) -> str:
    return f"ambiguous: {loose.name} lies loose among the hand-ins and was graded as one of them."


def _note_on_list(hand_in: Path) -> tuple[str, ...]:
    """For staff: a hand-in that holds a list of submissions, which was not read."""
    held = [name for name in METADATA if os.path.lexists(hand_in / name)]
    return tuple(
        f"ambiguous: {name} in this hand-in was taken for a file of the student's and not read." for name in held
    )


def _is_regular(path: Path) -> bool:
    """Whether a file is there, itself and no link; False, too, where the folder may not be looked into."""
    try:
        return stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode)
    except OSError:
        return False


# ------------------------------------------------------------------ exports


def _metadata_in(folder: Path) -> Path | None:
    found = [folder / name for name in METADATA if _is_regular(folder / name)]
    if len(found) > 1:
        raise SoftmarkError(f"{folder} holds both {' and '.join(METADATA)}: remove the one that is not the export's.")
    return found[0] if found else None


def _is_export(folder: Path, assignment: Assignment) -> bool:
    return not any(_is_regular(folder / part.file) for part in assignment.parts) and any(
        lists_what_is_there(folder / name) for name in METADATA if _is_regular(folder / name)
    )


def _refuse_packed_export(path: Path) -> None:
    """A zip of a whole export would else be taken for one student's."""
    names = _names_in_zip(path)
    for name in names:
        home, _, file = name.rpartition("/")
        if file in METADATA and "/" not in home:
            beside = re.compile(re.escape(f"{home}/" if home else "") + r"submission_\d+/")
            if any(beside.match(other) for other in names):
                raise SoftmarkError(f"{path} is a whole export: unpack it and give the folder.")


def _names_in_zip(path: Path) -> list[str]:
    if suffix_of(path.name) != ".zip" or not _is_regular(path.resolve()):
        return []
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist() if path.stat().st_size <= _LARGEST_ZIP else []
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return []  # reading it as a submission says what is wrong with it


def _exported(metadata: Path, loose: Collection[str]) -> list[Submission]:
    """The submissions of an export: those listed, and what the list has forgotten. Empty where nothing is listed.

    An entry without submitters and without a folder is nobody's and nothing: it is ignored.
    """
    folder = metadata.parent
    entries = read_metadata(metadata)
    found = [
        Submission(
            name=_plain(entry.folder),
            path=folder / entry.folder,
            submitters=entry.submitters,
            created_at=entry.created_at,
            staff=_note_on_list(folder / entry.folder),
        )
        for entry in entries
        if entry.submitters or (folder / entry.folder).exists()
    ]
    listed = {entry.folder for entry in entries}
    forgotten = [child for child in sorted(folder.iterdir()) if _is_submission(child) and child.name not in listed]
    if found and not any(submission.path.exists() for submission in found):
        raise SoftmarkError(
            f"{metadata} lists {found[0].path.name} and {len(found) - 1} more, and no folder of these lies beside it: "
            "put it beside its own folders, or remove it to grade the folders without names."
        )
    if not found and not forgotten:
        raise SoftmarkError(f"{metadata} lists no submission and no folder stands beside it: export them again.")
    found += _named(forgotten, loose, {submission.name for submission in found}) if found else []
    return sorted(found, key=lambda submission: submission.name)


# ------------------------------------------------------------------ one hand-in, or a folder of them


def _are_beside(loose: Collection[str], children: list[Path], assignment: Assignment) -> bool:
    """Whether other hand-ins lie beside the parts' files in a folder. Raises `SoftmarkError` where nobody can tell."""
    others = [child for child in children if child.name not in loose and not is_junk(f"{child.name}/")]
    rivals = [child for child in others if _parts_in(child, assignment)]
    packed = [child for child in rivals if child.is_dir() or suffix_of(child.name) == ".zip"]
    if len(packed) >= 2:
        return True
    if any(child.is_dir() for child in packed) or len(rivals) >= 3:
        raise SoftmarkError(
            f"{rivals[0].parent} holds {min(loose)} and {rivals[0].name}, which holds work as well: one submission or "
            f"several? Put {min(loose)} into a folder of its own to grade each, or zip all to grade it as one."
        )
    return False


def _are_pieces(children: list[Path], assignment: Assignment) -> bool:
    """Whether these are pieces of one hand-in: no two have the same part, and each belongs to the others by its name.

    A source file does where it is called like a part it holds or another one imports it; one more, with a part in it,
    may be called anything. A folder with work does where its name is `GENERIC`.
    """
    if len(children) > _MOST_PIECES:
        return False
    names = [assignment.name, *(part.name for part in assignment.parts)]
    generic = re.compile(GENERIC.format("|".join(map(re.escape, names))))
    held = {child: [part.name for part in _parts_in(child, assignment)] for child in children}
    every = [name for parts in held.values() for name in parts]
    files = [child for child in children if not child.is_dir()]
    sources = [child for child in files if suffix_of(child.name) in (".py", ".ipynb")]
    packed = [child for child in files if suffix_of(child.name) == ".zip"]
    if len(packed) == 1 and not sources:
        sources = packed
    imported = {name for child in sources for name in IMPORTED.findall(beginning(child, _LARGEST))}
    others = [
        child
        for child in sources
        if child.stem.encode() not in imported and not any(part in child.name.casefold() for part in held[child])
    ]
    for child in children:
        if child.is_dir():
            is_piece = generic.fullmatch(child.name.casefold()) if held[child] else any(child.iterdir())
        else:
            is_piece = child in sources or suffix_of(child.name) in PICTURES
        if not is_piece:
            return False
    return 0 < len(every) == len(set(every)) and (not others or (len(others) == 1 and bool(held[others[0]])))


def _parts_in(path: Path, assignment: Assignment) -> list[Part]:
    """The parts that a file, a zip or a folder seems to hold: by a file's name, or by half of what it should define."""
    if suffix_of(path.name) == ".zip":
        names = {name.rpartition("/")[2] for name in _names_in_zip(path)}
        return [part for part in assignment.parts if part.file in names or any(n.endswith(".ipynb") for n in names)]
    files = [path] if not path.is_dir() else _source_files(path)
    texts = {file: beginning(file, _LARGEST) for file in files}
    found: list[Part] = []
    for part in assignment.parts:
        names = [name for name in part.definitions if "." not in name]
        patterns = [re.compile(rb"(?:\b|\\n)(?:def|class)\s+%b\b" % name.encode()) for name in names]
        for file, text in texts.items():
            if file.name == part.file or 2 * sum(bool(one.search(text)) for one in patterns) >= max(1, len(names)):
                found.append(part)
                break
    return found


def _source_files(folder: Path) -> list[Path]:
    """Source files in a folder and in the folders within it."""
    try:
        found = (file for depth in ("*", "*/*") for file in folder.glob(depth))
        wanted = (
            f for f in found if suffix_of(f.name) in (".py", ".ipynb") and not is_junk(str(f.relative_to(folder)))
        )
        return list(islice(wanted, _MOST_FILES))
    except OSError:
        return []


def _is_submission(path: Path) -> bool:
    if path.name.startswith((".", "__MACOSX", "__pycache__")):
        return False
    name = path.name.lower()
    is_nobodys = name.startswith(NOBODYS_NAMES) and not name.endswith(SINGLE_FILES)
    return path.is_dir() or not (is_nobodys or name.endswith(NOBODYS_SUFFIXES))


# ------------------------------------------------------------------ names


def _names(paths: list[Path], taken: Collection[str] = ()) -> list[str]:
    """A plain name for each: without the suffix of a file, unless two would be called the same.

    Who is called so on disk comes first: " student_02" must not take the place of student_02.
    """
    on_disk = [path.name if path.is_dir() else path.stem for path in paths]
    stems = [_plain(name) for name in on_disk]
    so_called = [name for name, stem in zip(on_disk, stems, strict=True) if name == stem]
    names: dict[int, str] = {}
    for index in sorted(range(len(paths)), key=lambda index: on_disk[index] != stems[index]):
        plain, stem = _plain(paths[index].name), stems[index]
        name = stem if (so_called if on_disk[index] == stem else stems).count(stem) == 1 else plain
        number = 2
        while name in taken or name in names.values():
            name, number = f"{plain}_{number}", number + 1
        names[index] = name
    return [names[index] for index in range(len(paths))]


def _plain(name: str) -> str:
    """A name that can be a folder's anywhere: letters and digits of any language, `_-.@+()` and spaces."""
    text = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode())[:100]
    plain = re.sub(r"[^\w\-.@+() ]", "_", text.encode()[:200].decode(errors="ignore")).strip(". ")
    return "submission" if plain.lower() in RESERVED else plain
