"""Files that were handed in -> the files of the assignment's parts, by their names or by what they define.

A part's file is looked for by name, then among renamed files and notebooks by the functions in it. What was done that a
student may not expect is said in a note. It does not judge whether a file is Python: the worker's import does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from autograder.assignment.assignment import GIVEN, Assignment, Part
from autograder.errors import Unreadable
from autograder.intake.assembly import Surroundings, module_of, standard_libraries
from autograder.intake.contents import HandIn, read_hand_in
from autograder.intake.files import KEPT, Collected, suffix_of

MOST_NOTES = 30
MOST_NAMES = 20
IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(.*?)(?:[ \t]import\b|$)", re.MULTILINE)


class Choice(NamedTuple):
    """The file that a part is taken from, why it is not the expected one (or empty), and others that might be meant."""

    path: str
    why: str = ""
    others: tuple[str, ...] = ()


class Arranged(NamedTuple):
    """The files that the worker sees, notes to the student and to staff, and what else was handed in."""

    files: dict[str, bytes]
    notes: list[str]
    staff: list[str]
    held: list[str]


def arrange(collected: Collected, assignment: Assignment) -> Arranged:
    """Decide which file is which part, and what goes beside them.

    Raises:
        Unreadable: there is nothing that could be graded, or what could hold a missing part cannot be read.
    """
    hand_in = read_hand_in(collected)
    if not hand_in.code:
        _refuse_nothing(collected, hand_in, assignment)
    if not hand_in.notebooks and not any(source.text.strip() for source in hand_in.sources.values()):
        raise Unreadable(f"{hand_in.shown}: {min(hand_in.code)} is an empty file: hand it in again.")
    choices = {part.name: choice for part in assignment.parts if (choice := _choose(part, assignment, hand_in))}
    _refuse_unreadable_parts(hand_in, assignment, choices)
    files: dict[str, bytes] = {}
    notes: list[str] = []
    ambiguous: list[str] = []
    for part in assignment.parts:
        choice = choices.get(part.name)
        if choice is None:
            names = ", ".join(part.definitions[:3]) + (" and more" if len(part.definitions) > 3 else "")
            notes.append(f"{part.file} was not handed in, and no other file defines {names}.")
            continue
        if line := hand_in.breaks_off(choice.path, part):
            raise Unreadable(f"{hand_in.shown}: {choice.path} was cut off in line {line}: hand it in again, whole.")
        data, said = _content(part, choice, choices, assignment, hand_in)
        files[part.file] = data
        notes += said
        if choice.others:
            others = _named(choice.others)
            too = ", ".join(
                name
                for name in hand_in.work(choice.path, part)
                if any(name in hand_in.work(other, part) for other in choice.others)
            )
            notes.append(
                f"{choice.path} was graded as {part.file}. Not graded: {others}, which also has {too}. "
                "Hand in one only."
            )
            ambiguous.append(
                f"ambiguous: {part.file} was taken from {choice.path}, not from {others} (also has {too})."
            )
    chosen = {choice.path for choice in choices.values()}
    _add_beside(files, chosen or {min(hand_in.code, key=_nearness)}, hand_in)
    notes += [
        source.note
        for path, source in hand_in.sources.items()
        if source.note and (path in chosen or suffix_of(path) == ".py")
    ]
    notes += [*_notes_on_left_out(collected), *hand_in.problems.values()]
    staff = [*ambiguous, *_notes_on_left_out(collected)]
    staff += [f"{name} was there twice with different content; the later one was kept." for name in collected.twice]
    staff += [f"Not read: {sentence}" for sentence in hand_in.problems.values()]
    files = {name: data for name, data in files.items() if files.keys().isdisjoint(_folders(name))}
    held = sorted({*collected.files, *collected.passed_over, *collected.left_out} - chosen)
    return Arranged(files, _few(notes), _few(staff), held[:MOST_NAMES] + ["and more"] * (len(held) > MOST_NAMES))


def _few(notes: list[str]) -> list[str]:
    """Each note once, and no more of them than somebody reads."""
    once = list(dict.fromkeys(notes))
    more = len(once) - MOST_NOTES
    return once if more <= 0 else [*once[:MOST_NOTES], f"And {more} more of these."]


def _folders(name: str) -> list[str]:
    """The folders that a path goes through. A zip can give one of them the name of a file."""
    return [str(folder) for folder in PurePosixPath(name).parents]


def _choose(part: Part, assignment: Assignment, hand_in: HandIn) -> Choice | None:
    """The file for a part: by name and implemented, else by what it defines, else by name alone."""
    exact = [path for path in hand_in.code if PurePosixPath(path).name == part.file]
    exact.sort(key=_nearness)
    rivals = _rivals(part, assignment, hand_in)
    if len({hand_in.text(path) for path in (*exact, *rivals)}) == 1:  # nothing to choose from, so nothing is parsed
        return Choice(exact[0]) if exact else Choice(rivals[0], "renamed")
    candidates = [path for path in (*exact, *rivals) if hand_in.implements(path, part)]
    if not candidates:
        return Choice(exact[0]) if exact else Choice(rivals[0], "renamed") if rivals else None
    counts = {path: len(hand_in.work(path, part)) for path in candidates}
    enough = max(counts.values()) / 2  # a helper at the top is not preferred to the work in a folder
    order = {path: number for number, path in enumerate(rivals, start=1)}  # exact names have 0
    serious = [path for path in candidates if path in exact or counts[path] >= enough]
    taken = min(
        serious,
        key=lambda path: (path.count("/"), order.get(path, 0) > 0, -counts[path], order.get(path, 0), path),
    )
    others = _others(taken, candidates, part, assignment, hand_in)
    if exact and exact[0] not in candidates:
        return Choice(taken, "stub", others)
    return Choice(taken, "" if taken in exact else "renamed", others)


def _others(taken: str, candidates: list[str], part: Part, assignment: Assignment, hand_in: HandIn) -> tuple[str, ...]:
    """The candidates that do some of the same work in another way, and so might have been meant.

    A module that the taken file imports is a helper, whatever it defines; so is one that has less than half of its
    names, or less than all where the taken file has the part's name.
    """
    work = hand_in.work(taken, part)
    parts = {one.file for one in assignment.parts} - {part.file}
    found: list[str] = []
    imported = {name for line in IMPORTED.findall(hand_in.text(taken)) for name in re.findall(r"\w+", line)}
    for path in candidates:
        other = hand_in.work(path, part)
        name = PurePosixPath(path)
        least = len(work) if PurePosixPath(taken).name == part.file else len(work) / 2
        is_small = len(other) < least and not _alike(part, name.name)
        if path in hand_in.sources and (is_small or name.stem in imported):
            continue
        if PurePosixPath(path).name in parts or work.keys().isdisjoint(other) or path == taken:
            continue
        is_same_kind = (path in hand_in.notebooks) == (taken in hand_in.notebooks)
        if hand_in.text(path) != hand_in.text(taken) if is_same_kind else other != work:
            found.append(path)
    return tuple(found)


def _rivals(part: Part, assignment: Assignment, hand_in: HandIn) -> list[str]:
    """Other files that define the part's functions, or bear its name in another spelling; the likeliest first."""
    names = {one.file for one in assignment.parts}
    found: list[tuple[int, bool, bool, tuple[int, str], str]] = []
    for path in hand_in.code:
        file = PurePosixPath(path)
        count = len(hand_in.defines(path, part))
        if file.name == part.file or file.name.startswith("test_"):
            continue
        if file.name in names and 2 * count < len(part.definitions):
            continue  # another part's file, which has a helper of that name
        if count or (_alike(part, file.name) and suffix_of(path) != ".txt" and path in hand_in.sources):
            found.append((-count, not _alike(part, file.name), suffix_of(path) != ".py", _nearness(path), path))
    return [path for *_, path in sorted(found)]


def _alike(part: Part, name: str) -> bool:
    """Whether a file's name has the part's in another spelling."""
    return part.name in name.casefold().replace("-", "_").replace(" ", "_")


def _nearness(path: str) -> tuple[int, str]:
    """Files further up come first."""
    return path.count("/"), path


def _content(
    part: Part, choice: Choice, choices: dict[str, Choice], assignment: Assignment, hand_in: HandIn
) -> tuple[bytes, list[str]]:
    """The part's file as the worker sees it, and what the student is told of it."""
    path, why, _ = choice
    defined = ", ".join(hand_in.defines(path, part))
    notes: list[str] = []
    if why == "stub":
        notes.append(
            f"{part.file} is the starter code as it was; {path}, which defines {defined}, was graded in its place."
        )
    if path not in hand_in.notebooks:
        if why == "renamed":
            reason = f"it defines {defined}" if defined else "its name is so near"
            notes.append(f"{path} was taken for {part.file}, since {reason}. Hand it in as {part.file}.")
        return hand_in.sources[path].data, notes
    code = hand_in.notebooks[path]
    if path.endswith(".ipynb"):
        notes.append(f"{part.file} was taken from {path}, which defines {defined}. Nothing was run but definitions.")
    else:
        notes.append(f"{path} is a notebook under another name: of it, {defined} and what they need were graded.")
    beside = {piece.partition(".")[0] for name in hand_in.sources for piece in name.split("/")}
    beside -= {one.name for one in assignment.parts}
    from_files = {name for name, other in choices.items() if other.path in hand_in.sources}
    surroundings = Surroundings(
        libraries=importable(assignment) | beside | from_files,
        from_notebook=frozenset(name for name, other in choices.items() if other.path == path),
    )
    module = module_of(code, part, surroundings)
    return module.source.encode("utf-8", "surrogatepass"), [*notes, *code.notes, *module.notes]


def importable(assignment: Assignment) -> frozenset[str]:
    """The modules that a submission of this assignment can import where it is graded, its own apart."""
    roots = {library.partition(".")[0] for library in assignment.libraries}
    if assignment.given is not None:
        roots.add(GIVEN)
    return standard_libraries() | roots


def _add_beside(files: dict[str, bytes], chosen: set[str], hand_in: HandIn) -> None:
    """Put what stands in the folders of the chosen files, and below them, beside the parts."""
    beside = {path: source.data for path, source in hand_in.sources.items()} | hand_in.others
    # In this order, a text file that happens to hold a line like Python's stays as it came.
    folders = sorted({str(PurePosixPath(path).parent) for path in chosen}, key=_nearness)
    for folder in folders:
        prefix = "" if folder == "." else f"{folder}/"
        for path, data in beside.items():
            if path.startswith(prefix):
                name = path[len(prefix) :]
                files.setdefault(name[: -len(suffix_of(name))] + suffix_of(name), data)


def _refuse_nothing(collected: Collected, hand_in: HandIn, assignment: Assignment) -> None:
    if hand_in.problems:
        raise Unreadable(f"{hand_in.shown}: {next(iter(hand_in.problems.values()))}")
    expected = ", ".join(part.file for part in assignment.parts)
    held = sorted({*collected.passed_over, *(name for name in collected.files if suffix_of(name) != ".zip")})
    zips = sorted(name for name in collected.files if suffix_of(name) == ".zip")
    there = [f"it holds {_named(held)}, which is not a zip, notebook or Python code"] if held else []
    there += [f"it holds {_named(zips)}, a zip within a zip, which is not opened"] if zips else []
    said = f" ({'; '.join(there)})" if there else ""
    raise Unreadable(
        f"{hand_in.shown} holds no file that could be graded{said}: expected {expected}, or a notebook or zip."
    )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (" and more" if len(names) > MOST_NAMES else "")


def _refuse_unreadable_parts(hand_in: HandIn, assignment: Assignment, choices: dict[str, Choice]) -> None:
    """What may hold a part that is nowhere else, and cannot be read, leaves all ungraded: no 0 for what nobody saw."""
    for part in assignment.parts:
        if part.name in choices:
            continue
        for path, sentence in hand_in.problems.items():
            if not choices or part.name in PurePosixPath(path).name.casefold():
                raise Unreadable(f"{hand_in.shown}: {sentence}")


def _notes_on_left_out(collected: Collected) -> list[str]:
    if not collected.left_out:
        return []
    names = _named(sorted(collected.left_out))
    kept = ", ".join([*sorted(KEPT), *collected.accept])
    return [f"Left out, since only these files are kept ({kept}): {names}."]
