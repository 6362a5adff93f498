"""What goes into a hand-in, and what would go wrong with it where it is graded: said on the student's own machine.

Nothing of it is run. The warnings are guesses from the text; the grader judges what the code does.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment
from autograder.errors import Unreadable
from autograder.intake.assembly import cell_at, read_codes
from autograder.intake.cells import read_notebook
from autograder.intake.encoding import read_source
from autograder.intake.files import LARGEST, LARGEST_OTHER, MEGABYTE, suffix_of
from autograder.intake.matching import importable

_POINTER = b"version https://git-lfs"
_DEVICE = re.compile(r"(cuda|mps|xpu)(:\d+)?")
_DEFINES = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


def chosen(folder: Path, assignment: Assignment) -> dict[str, bytes]:
    """The files that go into the hand-in, by name.

    Those are the parts' files, what `hand_in` and `accept` of the manifest name, notebooks that define a part's
    function, and the modules beside them that any of these import.
    """
    files = {
        part.file: (folder / part.file).read_bytes() for part in assignment.parts if (folder / part.file).is_file()
    }
    for pattern in (*assignment.hand_in, *assignment.accept):
        files.update({path.name: path.read_bytes() for path in sorted(folder.glob(pattern)) if path.is_file()})
    for path in sorted(folder.glob("*.ipynb")):
        if _has_work(path, assignment):
            files[path.name] = path.read_bytes()
    waiting = list(files)
    while waiting:
        name = waiting.pop()
        for module in _imported(files[name], name):
            path = folder / f"{module}.py"
            if path.name not in files and path.is_file():
                files[path.name] = path.read_bytes()
                waiting.append(path.name)
    return files


def _has_work(path: Path, assignment: Assignment) -> bool:
    try:
        code = read_codes({path.name: read_notebook(path.read_bytes(), path.name)})[path.name]
    except Unreadable:
        return True  # the grader says what is wrong with it
    return any(not code.functions.isdisjoint(part.definitions) for part in assignment.parts)


def _imported(data: bytes, name: str) -> set[str]:
    """The modules that a file, or a notebook's cells, import, as far as it parses."""
    if suffix_of(name) == ".ipynb":
        return set(re.findall(r"^\s*(?:from|import)\s+(\w+)", data.decode("utf-8", "replace").replace('"', "\n"), re.M))
    tree = _tree(read_source(data, name).text) if suffix_of(name) == ".py" else None
    return {module for module, _ in _imports(tree)} if tree is not None else set()


# ------------------------------------------------------------------ warnings


def warnings(folder: Path, files: Mapping[str, bytes], assignment: Assignment) -> Iterator[str]:
    """What would go wrong with these files of `folder`, in sentences, as far as files and names tell."""
    for part in assignment.parts:
        if part.file not in files and not any(suffix_of(name) == ".ipynb" for name in files):
            yield f"{part.file} is missing{_renamed(folder, part.file, part.definitions, files)}."
    for name, data in files.items():
        if data.startswith(_POINTER):
            yield f"{name} is a Git LFS pointer, not the file itself: run git lfs pull."
        if len(data) > LARGEST.get(suffix_of(name), LARGEST_OTHER):
            yield f"{name} has {len(data) / MEGABYTE:,.0f} MB, too large to be read: clear outputs and results."
        if suffix_of(name) == ".py" and (note := read_source(data, name).note):
            yield note
        if suffix_of(name) == ".ipynb":
            yield from _not_run(data, name, assignment)
            checkpoint = folder / ".ipynb_checkpoints" / name.replace(".ipynb", "-checkpoint.ipynb")
            if checkpoint.is_file() and checkpoint.stat().st_mtime > (folder / name).stat().st_mtime + 1:
                yield f"{name} is older than its checkpoint: save it, and run softmark submit again."


def _renamed(folder: Path, file: str, definitions: Iterable[str], files: Mapping[str, bytes]) -> str:
    wanted = set(definitions)
    for path in sorted(folder.glob("*.py")):
        if path.name not in files and not wanted.isdisjoint(_DEFINES.findall(path.read_text("utf-8", "replace"))):
            return f", and {path.name} looks like it: rename it to {file}"
    return ""


def _not_run(data: bytes, name: str, assignment: Assignment) -> Iterator[str]:
    """Cells with a part's function that were changed, or pasted, and never run since."""
    wanted = {one for part in assignment.parts for one in part.definitions}
    try:
        cells: list[dict[str, Any]] = json.loads(data)["cells"]
        sources = ["".join(cell.get("source", "")) for cell in cells]
    except (ValueError, KeyError, TypeError, AttributeError):
        return  # the grader says what is wrong with it
    for number, (cell, source) in enumerate(zip(cells, sources, strict=True), start=1):
        names = [one for one in _DEFINES.findall(source) if one in wanted]
        if names and cell.get("cell_type") == "code" and cell.get("execution_count") is None:
            yield f"{name}, cell {number}, defines {names[0]} and has not been run: run all cells and save."


def warnings_on_code(files: Mapping[str, bytes], assignment: Assignment) -> Iterator[str]:
    """What the grader would stumble over in a source tree as it reads it."""
    for name, data in files.items():
        if suffix_of(name) != ".py":
            continue
        source = data.decode("utf-8", "replace")
        tree = _tree(source)
        if tree is None:
            continue  # the visible checks say so
        part = next((part for part in assignment.parts if part.file == name), None)
        if part is not None:
            absent = sorted({one.partition(".")[0] for one in part.functions} - _bound(tree))
            if absent:
                yield f"{name} does not define {', '.join(absent)}."
        for line, what in (*_newer(source, assignment.python), *_elsewhere(tree, name, files, assignment)):
            yield f"{place_of(name, source, line)}: {what}"


def place_of(name: str, source: str, line: int) -> str:
    """Where a line stands: in its file, or in the cell of the notebook that the file was taken from."""
    return cell_at(source, line) or f"{name}, line {line}"


def _bound(tree: ast.Module) -> set[str]:
    bound: set[str] = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(one.name)
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            bound.add(one.id)
        elif isinstance(one, ast.alias):
            bound.add(one.asname or one.name)
    return bound


def _newer(source: str, python: str) -> Iterator[tuple[int, str]]:
    """Syntax that this Python reads and the grader's does not."""
    major, minor = map(int, python.split("."))
    if (major, minor) >= sys.version_info[:2]:
        return
    told = f"Python {python}, which grades, does not read this; write it as Python {python} does"
    try:
        ast.parse(source, feature_version=(major, minor))
    except SyntaxError as error:
        yield error.lineno or 1, f"{told} ({error.msg})."
        return
    if minor < 12:
        yield from ((line, f"{told} (quotes or a backslash inside an f-string).") for line in _nested_quotes(source))


def _nested_quotes(source: str) -> list[int]:
    """Lines with an f-string that reuses its own quotes inside, or holds a backslash there: new in Python 3.12."""
    start, end = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
    if start is None:
        return []
    lines: list[int] = []
    quotes: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (start, tokenize.STRING):
            quote = token.string.lstrip("rbuftRBUFT")
            quote = quote[:3] if quote[:3] in ('"""', "'''") else quote[:1]
            if quote in quotes or (quotes and "\\" in token.string):
                lines.append(token.start[0])
        if token.type == start:
            quotes.append(token.string.lstrip("rbuftRBUFT"))
        elif token.type == end:
            quotes.pop()
    return lines


def _elsewhere(
    tree: ast.Module, name: str, files: Mapping[str, bytes], assignment: Assignment
) -> Iterator[tuple[int, str]]:
    """What is on the student's machine and not where it is graded: packages, a GPU, somebody who answers."""
    here = {Path(file).stem for file in files} | {part.name for part in assignment.parts}
    known = importable(assignment) | here | {"safetensors"}
    for module, line in _imports(tree):
        if module not in known:
            yield line, f"the grader does not have {module}: do without it."
    asks = "is_available" in ast.dump(tree)
    for one in ast.walk(tree):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "input":
            yield one.lineno, "input() waits for somebody to type, and nobody does: take the value as an argument."
        elif isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "cuda":
            yield one.lineno, ".cuda() needs a GPU, which the grader does not have: use x.device, or .to(x.device)."
        elif isinstance(one, ast.Constant) and isinstance(one.value, str) and _DEVICE.fullmatch(one.value) and not asks:
            yield one.lineno, f"the grader has no device {one.value!r}: use the device of the input, x.device."


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            yield from ((alias.name.partition(".")[0], one.lineno) for alias in one.names)
        elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
            yield one.module.partition(".")[0], one.lineno
