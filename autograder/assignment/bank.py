"""The bank of an assignment: known mistakes, each of which must lose points, and variants, each of which must not.

Reads what an entry says about itself (docstring, `CAUGHT_BY`, `CRASHES`) without running it, and lays its definitions
over the reference's. It does not run anything and does not know what an entry gives: validation does.
"""

from __future__ import annotations

import ast
from pathlib import Path, PurePath
from typing import Literal

import msgspec

from autograder.assignment.assignment import Assignment, Part
from autograder.assignment.leftovers import is_leftover
from autograder.errors import SoftmarkError

EntryKind = Literal["mistake", "variant"]
FOLDERS: tuple[tuple[EntryKind, str], ...] = (("mistake", "mistakes"), ("variant", "variants"))


class BankEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file `mistakes/<part>/<name>.py` or `variants/<part>/<name>.py`.

    `diagnosis` is the docstring, one sentence to a student. `caught_by` are the numbers of the checks that must fail
    (others may); it is empty for a variant. `crashes` says that the worker dies of it.
    """

    name: str
    part: str
    path: Path
    kind: EntryKind
    diagnosis: str
    caught_by: tuple[str, ...] = ()
    crashes: bool = False

    def source(self) -> str:
        """The entry's text, to be laid over the reference's."""
        return _read(self.path)

    def weights(self) -> dict[str, bytes]:
        """Weight files in place of the reference's: those in a folder `<name>/` beside the entry, by name."""
        return weights_in(self.path.with_suffix(""))


def bank(assignment: Assignment, part: Part) -> list[BankEntry]:
    """Every entry for that part, mistakes first, by name.

    Raises:
        SoftmarkError: an entry that is not Python, has no docstring, or says nothing of the checks that catch it.
    """
    return [
        _entry(path, part, kind)
        for kind, folder in FOLDERS
        for path in sorted((assignment.solutions / folder / part.name).glob("*.py"))
        if not is_leftover(PurePath(path.name))
    ]


def weights_in(folder: Path) -> dict[str, bytes]:
    """The .safetensors files of a folder, by name; none where there is no such folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.safetensors"))}


def overlay(reference_source: str, entry_source: str) -> str:
    """The reference's source with the entry's definitions after it, so that the last one wins.

    `from __future__` imports must stand first in a file, so those of the entry move to the reference's beginning. A
    method alone is replaced by deriving: `class Attention(Attention): ...`.
    """
    entry = ast.parse(entry_source)
    future = [node for node in entry.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    lines = entry_source.splitlines()
    for node in future:
        for line in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[line] = ""
    names = sorted({alias.name for node in future for alias in node.names})
    head = f"from __future__ import {', '.join(names)}\n" if names else ""
    reference_lines = reference_source.splitlines(keepends=True)
    at = _end_of_docstring(ast.parse(reference_source))
    reference = "".join(reference_lines[:at]) + head + "".join(reference_lines[at:])
    return f"{reference.rstrip()}\n\n\n" + "\n".join(lines).strip("\n") + "\n"


def _end_of_docstring(module: ast.Module) -> int:
    """The number of lines up to and with the module's docstring; 0 where it has none."""
    if ast.get_docstring(module, clean=False) is None:
        return 0
    return module.body[0].end_lineno or 0


def _entry(path: Path, part: Part, kind: EntryKind) -> BankEntry:
    try:
        module = ast.parse(_read(path))
    except SyntaxError as error:
        raise SoftmarkError(f"{path}, line {error.lineno}, is not Python: {error.msg}.") from error
    diagnosis = " ".join((ast.get_docstring(module) or "").split())
    if not diagnosis:
        raise SoftmarkError(f"{path} has no docstring: begin it with one sentence that tells a student what it does.")
    said = _constants(module, path)
    caught_by = _numbers(said.get("CAUGHT_BY", ()), path)
    crashes = said.get("CRASHES", False)
    if not isinstance(crashes, bool):
        raise SoftmarkError(f"{path}: CRASHES is {crashes!r}; it must be True or False.")
    if kind == "mistake" and not caught_by:
        raise SoftmarkError(f'{path} does not say which check must fail: add CAUGHT_BY = ["{part.number}.1"].')
    if kind == "variant" and (caught_by or crashes):
        raise SoftmarkError(f"{path} is a variant, which nothing may catch: remove CAUGHT_BY and CRASHES.")
    return BankEntry(
        name=path.stem, part=part.name, path=path, kind=kind, diagnosis=diagnosis, caught_by=caught_by, crashes=crashes
    )


def _constants(module: ast.Module, path: Path) -> dict[str, object]:
    """`CAUGHT_BY` and `CRASHES`, read as literals."""
    said: dict[str, object] = {}
    for node in module.body:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if name in ("CAUGHT_BY", "CRASHES"):
            try:
                said[name] = ast.literal_eval(node.value)
            except ValueError:
                raise SoftmarkError(
                    f"{path}: {name} must be written out, since the file is not run to read it."
                ) from None
    return said


def _numbers(value: object, path: Path) -> tuple[str, ...]:
    try:
        return msgspec.convert(value, tuple[str, ...], strict=True)
    except msgspec.ValidationError:
        raise SoftmarkError(f'{path}: CAUGHT_BY is {value!r}; it must be a list of check numbers, ["2.3"].') from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SoftmarkError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
