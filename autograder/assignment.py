"""`assignment.toml` -> typed objects, or one sentence that says what is wrong with it.

Knows where an assignment's files stand: checks, solutions, starter code. It does not read a check or a solution, and so
does not know whether the weights of the checks add up to the points of a part (the plugin does).
"""

from __future__ import annotations

import difflib
import keyword
import math
import sys
from pathlib import Path
from typing import Literal, cast

import msgspec

from autograder.errors import SoftmarkError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MANIFEST = "assignment.toml"
TAKEN_NAMES = frozenset({"torch", "numpy", "autograder", "softmark_worker"}) | sys.stdlib_module_names


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker may use. Seconds are CPU time of the worker; `total_seconds` is wall time of one whole submission.

    `memory_mb` is the allowance in MiB above the worker's address space at its fork.
    """

    cpu_seconds: float = 10.0
    import_seconds: float = 20.0
    memory_mb: int = 256
    total_seconds: float = 540.0


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file that students complete: `<name>.py`, checked by `checks/test_<name>.py`.

    `functions` are the names that students write, classes and data included; those in `bonus` carry no points and may
    be methods (`MultiHeadAttention.step`). `forbids` names what may not be used (`testing.operators.FORBIDDEN`).
    """

    name: str
    number: int
    title: str
    points: float
    functions: tuple[str, ...]
    bonus: tuple[str, ...] = ()
    forbids: tuple[Literal["library attention", "custom operators"], ...] = ()

    @property
    def file(self) -> str:
        """The name of the file that students hand in."""
        return f"{self.name}.py"

    @property
    def definitions(self) -> tuple[str, ...]:
        """The top-level names that the part's file binds, in the manifest's order."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in (*self.functions, *self.bonus)))


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `assignment.toml` as it stands."""

    title: str
    key: str
    part: tuple[Part, ...]
    libraries: tuple[str, ...] = ()
    limits: Limits = Limits()


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One assignment: its manifest, and where its files stand.

    `key` seeds the draws of the visible checks. `folder` is absolute.
    """

    name: str
    title: str
    folder: Path
    key: bytes
    parts: tuple[Part, ...]
    limits: Limits
    libraries: tuple[str, ...] = ()

    @property
    def maximum(self) -> float:
        """The points that the manifest declares, whatever runs."""
        return math.fsum(part.points for part in self.parts)

    @property
    def solutions(self) -> Path:
        """The folder of the reference solutions, mistakes and variants. It need not exist (a student's machine)."""
        return self.folder.parent.parent / "solutions" / self.name

    @property
    def starter(self) -> Path:
        """The folder of the generated starter code."""
        return self.folder.parent.parent / "starter_code" / self.name

    @property
    def hidden(self) -> Path:
        """The folder of the hidden checks. It need not exist."""
        return self.folder / "checks" / "hidden"

    def part(self, name: str) -> Part:
        """The part of that name. Raises `SoftmarkError` naming the parts there are."""
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise SoftmarkError(f"{self.name} has no part {name!r}: its parts are {names}.")

    def reference(self, part: Part) -> Path:
        """The file of the part's reference solution. Raises `SoftmarkError` where there is none."""
        path = self.solutions / part.file
        if not path.is_file():
            raise SoftmarkError(f"{path} is missing: part {part.number} of {self.name} needs its reference solution.")
        return path

    def check_files(self) -> tuple[Path, ...]:
        """Every check file, in the order of the parts, the visible one first. Raises where one belongs to no part."""
        known = {f"test_{part.name}.py" for part in self.parts}
        for folder in (self.folder / "checks", self.hidden):
            for path in sorted(folder.glob("test_*.py")):
                if path.name not in known:
                    near = _nearest(path.name, known)
                    raise SoftmarkError(f"{path} belongs to no part of {self.folder / MANIFEST}{near}.")
        candidates = [
            folder / f"test_{part.name}.py" for part in self.parts for folder in (self.hidden.parent, self.hidden)
        ]
        found = tuple(path for path in candidates if path.is_file())
        if not found:
            raise SoftmarkError(f"{self.folder / 'checks'} holds no check file; expected {candidates[0].name}.")
        return found

    def hidden_key(self) -> bytes:
        """The key that seeds the draws of the hidden checks: `checks/hidden/key`, without surrounding white space."""
        path = self.hidden / "key"
        try:
            key = path.read_bytes().strip()
        except OSError as error:
            raise SoftmarkError(
                f"{path} could not be read ({error.strerror}): hidden checks need a key of their own. "
                f"Write a line of random text into it."
            ) from error
        if not key:
            raise SoftmarkError(f"{path} is empty: write a line of random text into it.")
        return key


def load_assignment(folder: Path | str) -> Assignment:
    """Read an assignment's manifest.

    Raises:
        SoftmarkError: (exit code 2) naming the file, what is wrong in it and the remedy.
    """
    folder = Path(folder).resolve()
    path = folder / MANIFEST
    if not folder.is_dir():
        raise SoftmarkError(f"There is no assignment folder {folder}{_nearby_assignments(folder)}.")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise SoftmarkError(f"{folder} is no assignment: it has no {MANIFEST}.") from None
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SoftmarkError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise SoftmarkError(f"{path} is not TOML: {error}.") from error
    manifest = _convert(table, path)
    _refuse_nonsense(manifest, path)
    return Assignment(
        name=folder.name,
        title=manifest.title,
        folder=folder,
        key=manifest.key.encode(),
        parts=tuple(sorted(manifest.part, key=lambda part: part.number)),
        limits=manifest.limits,
        libraries=manifest.libraries,
    )


def _convert(table: dict[str, object], path: Path) -> Manifest:
    """TOML tables -> `Manifest`; an unknown key is named together with the nearest known one."""
    _refuse_unknown_keys(table, Manifest, "", path)
    _refuse_unknown_keys(table.get("limits"), Limits, "limits.", path)
    parts = table.get("part")
    if isinstance(parts, list):
        for index, part in enumerate(cast("list[object]", parts), start=1):
            _refuse_unknown_keys(part, Part, f"part {index}: ", path)
    try:
        return msgspec.convert(table, Manifest, strict=True)
    except msgspec.ValidationError as error:
        raise SoftmarkError(f"{path}: {_as_words(str(error))}.") from error


def _refuse_unknown_keys(table: object, struct: type[msgspec.Struct], where: str, path: Path) -> None:
    if not isinstance(table, dict):
        return
    for key in map(str, cast("dict[object, object]", table)):
        if key not in struct.__struct_fields__:
            near = _nearest(key, struct.__struct_fields__)
            raise SoftmarkError(f"{path} has an unknown key {where}{key!r}{near}.")


def _as_words(message: str) -> str:
    """msgspec's message with `$.part[0].points` said as `part 1, points`."""
    reason, _, place = message.partition(" - at `$")
    words: list[str] = []
    for step in place.rstrip("`").replace("[", ".[").strip(".").split("."):
        if step.startswith("[") and words:
            index = step.strip("[]")
            words[-1] += f" {int(index) + 1}" if index.isdigit() else ""
        elif step:
            words.append(step)
    reason = reason.replace("Object missing", "missing").replace("`", "'")
    return f"{', '.join(words)}: {reason}" if words else reason


def _refuse_nonsense(manifest: Manifest, path: Path) -> None:
    """What types cannot say: names that cannot be modules, doubles, points below zero, limits that end everything."""
    if not manifest.part:
        raise SoftmarkError(f"{path} declares no part: add a [[part]] table.")
    if not manifest.key:
        raise SoftmarkError(f"{path}: 'key' is empty; write any text, it seeds the visible checks.")
    for what in ("name", "number"):
        values = [str(getattr(part, what)) for part in manifest.part]
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise SoftmarkError(f"{path} has two parts with the {what} {twice[0]}.")
    for part in manifest.part:
        _refuse_part(part, path)
    for what in Limits.__struct_fields__:
        value = float(getattr(manifest.limits, what))
        if not (math.isfinite(value) and value > 0):
            raise SoftmarkError(f"{path}: limits.{what} is {value:g}; it must be more than 0.")


def _refuse_part(part: Part, path: Path) -> None:
    if not _is_name(part.name) or part.name in TAKEN_NAMES:
        raise SoftmarkError(
            f"{path}: a part cannot be called {part.name!r}; the name must be that of a module of its own."
        )
    if part.number < 0:
        raise SoftmarkError(f"{path}: part {part.name} has the number {part.number}; it must not be below 0.")
    if not (math.isfinite(part.points) and part.points >= 0):
        raise SoftmarkError(f"{path}: part {part.name} has {part.points:g} points; points cannot be below 0.")
    if not part.functions:
        raise SoftmarkError(f"{path}: part {part.name} names no functions that students write.")
    names = (*part.functions, *part.bonus)
    for name in names:
        if not all(_is_name(piece) for piece in name.split(".")):
            raise SoftmarkError(f"{path}: part {part.name}: {name!r} is not the name of a function.")
        if names.count(name) > 1:
            raise SoftmarkError(f"{path}: part {part.name} names {name!r} twice.")


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _nearest(word: str, known: frozenset[str] | set[str] | tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(sorted(known))}"


def _nearby_assignments(folder: Path) -> str:
    if not folder.parent.is_dir():
        return ""
    there = {path.parent.name for path in folder.parent.glob(f"*/{MANIFEST}")}
    return _nearest(folder.name, there) if there else ""
