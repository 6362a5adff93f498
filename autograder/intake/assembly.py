"""A notebook's cells -> the module of one part: definitions, imports and constants by name, nothing else.

What is taken is what the part's functions need, found by name from them on: so training code, plots and experiments
stay out, wherever they stand. The last definition wins, as when the notebook runs from top to bottom; a stub never
does, and neither does a result that was given a function's name (`causal_mask = causal_mask(4, 4)`).
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from autograder.assignment.assignment import Part
from autograder.intake.cells import Cell, Notebook
from autograder.intake.statements import Statement, outlines

FOREIGN = "is not Python of this notebook"
MOST_NOTES = 5
SEES_ALL = frozenset({"globals", "eval", "exec"})
"""Builtins through which a function may reach any definition."""


_ORIGIN = re.compile(r"# Taken from (.*): definitions, imports and constants\. Nothing else in it is run\.")
_CELL = re.compile(r"# Cell (\d+)")


class Placed(NamedTuple):
    """A statement and the number of its cell."""

    cell: int
    statement: Statement


class Lost(NamedTuple):
    """A cell of which nothing is taken, and why."""

    cell: Cell
    fault: str


@dataclass(frozen=True)
class Code:
    """What a notebook's code cells hold, statement by statement, and the cells that hold no Python."""

    shown: str
    placed: tuple[Placed, ...]
    lost: tuple[Lost, ...]
    notes: tuple[str, ...]

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names that a definition or an assignment gives a value, stubs not counted."""
        given = (one.statement for one in self.placed if one.statement.kind in ("definition", "assignment", "block"))
        return frozenset(
            name for statement in given if not statement.stub and statement.eligible for name in statement.binds
        )

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of functions and classes, stubs not counted."""
        definitions = (one.statement for one in self.placed if one.statement.kind == "definition")
        return frozenset(name for statement in definitions if not statement.stub for name in statement.binds)


@dataclass(frozen=True)
class Surroundings:
    """What a module taken from a notebook finds beside it.

    `libraries` are the modules that can be imported for certain; `from_notebook` are the parts that are made from the
    same notebook, where they may import each other by the names of their files.
    """

    libraries: frozenset[str]
    from_notebook: frozenset[str]


class Module(NamedTuple):
    """The source of a part taken from a notebook, and notes to the student."""

    source: str
    notes: tuple[str, ...]


def read_codes(notebooks: dict[str, Notebook]) -> dict[str, Code]:
    """Parse every code cell of several notebooks at once; a cell that is not Python is lost alone."""
    cells = [(shown, cell) for shown, notebook in notebooks.items() for cell in notebook.cells if cell.kind == "code"]
    placed: dict[str, list[Placed]] = defaultdict(list)
    lost: dict[str, list[Lost]] = defaultdict(list)
    for shown, notebook in notebooks.items():
        lost[shown] = [Lost(cell, f"is a {cell.kind.title()} cell") for cell in notebook.cells if cell.kind != "code"]
    for (shown, cell), outline in zip(cells, outlines([cell.source for _, cell in cells]), strict=True):
        if outline.fault:
            lost[shown].append(Lost(cell, outline.fault))
        placed[shown] += [Placed(cell.number, statement) for statement in outline.statements]
    return {
        shown: Code(shown, tuple(placed[shown]), tuple(lost[shown]), notebook.notes)
        for shown, notebook in notebooks.items()
    }


def module_of(code: Code, part: Part, surroundings: Surroundings) -> Module:
    """The module of one part, with everything its functions need, in the notebook's order."""
    overruled = {one: name for one in code.placed for name in part.definitions if _is_result(one.statement, name, code)}
    kept = _needed([one for one in _without_beaten_stubs(code) if one not in overruled], set(part.definitions))
    futures = sorted({name for one in kept if one.statement.module == "__future__" for name in one.statement.binds})
    lines = [f"# Taken from {code.shown!r}: definitions, imports and constants. Nothing else in it is run."]
    lines += [f"from __future__ import {name}" for name in futures]
    cell = 0
    unknown: set[str] = set()
    for one in kept:
        text = _as_source(one, code, part, surroundings, unknown)
        if text and one.cell != cell:
            cell = one.cell
            lines.append(f"\n# Cell {cell}")
        if text:
            lines.append(f"{text}\n" if one.statement.kind == "definition" else text)
    notes = [
        *_notes_on_definitions(code, part),
        *(
            f"{code.shown}, cell {one.cell}, gives {name} another value; its definition was graded."
            for one, name in overruled.items()
        ),
        *_notes_on_lost_cells(code, part),
        *_notes_on_libraries(code, unknown),
    ]
    return Module("\n".join(lines) + "\n", tuple(notes))


def cell_at(source: str, line: int) -> str:
    """Where a line that was taken from a notebook stands in it: "'x.ipynb', cell 3"; "" for any other line."""
    cell = ""
    for text in reversed(source.split("\n")[: line - 1]):
        found, origin = _CELL.fullmatch(text), _ORIGIN.fullmatch(text)
        cell = cell or (found[1] if found else "")
        if origin:
            return f"{origin[1]}, cell {cell}" if cell else ""
    return ""


def _without_beaten_stubs(code: Code) -> list[Placed]:
    """The statements without those stubs whose name is defined elsewhere in earnest."""
    return [one for one in code.placed if not (one.statement.stub and code.defined.issuperset(one.statement.binds))]


def _is_result(statement: Statement, name: str, code: Code) -> bool:
    """Whether an assignment hides a function by something that can be none: `causal_mask = causal_mask(4, 4)`."""
    if statement.kind != "assignment" or name not in statement.binds or name not in code.functions:
        return False
    needs_no_name = not {"lambda", "."}.isdisjoint(statement.wraps)
    is_function = len(statement.binds) == 1 and not code.functions.isdisjoint(statement.wraps)
    return not is_function and not needs_no_name


def _needed(placed: list[Placed], names: set[str]) -> list[Placed]:
    """The statements that bind or change one of the names, or a name that such a statement reads, and so on."""
    by_name: dict[str, list[int]] = defaultdict(list)
    defined = {name for _, one in placed if one.kind in ("definition", "assignment") for name in one.binds}
    waiting: list[int] = []
    for index, (_, statement) in enumerate(placed):
        changed = statement.changes if statement.kind != "definition" else defined.intersection(statement.changes)
        for name in (*statement.binds, *changed) if statement.eligible else ():
            by_name[name].append(index)
        if statement.eligible and (statement.star or statement.kind == "setting" or statement.module == "__future__"):
            waiting.append(index)
    for name in SEES_ALL:
        by_name[name] += [index for index, (_, one) in enumerate(placed) if one.kind in ("definition", "import")]
    waiting += [index for name in names for index in by_name[name]]
    taken: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index not in taken:
            taken.add(index)
            for name in placed[index].statement.reads:
                waiting += by_name.pop(name, [])
    return [placed[index] for index in sorted(taken)]


def _as_source(one: Placed, code: Code, part: Part, surroundings: Surroundings, unknown: set[str]) -> str:
    """A statement as it goes into the module; one that may fail is kept from failing the whole module."""
    statement = one.statement
    if statement.kind == "import":
        root = statement.module.partition(".")[0]
        made_here = root in surroundings.from_notebook and (statement.star or set(statement.binds) <= code.defined)
        of_itself = root == part.name and statement.text.startswith("from")
        if statement.module == "__future__" or not root or made_here or of_itself:
            return ""
        if root in surroundings.libraries:
            return statement.text
        if root not in surroundings.from_notebook:
            unknown.add(root)
    elif statement.kind in ("definition", "block") or statement.inert:
        return statement.text
    what = ", ".join((*statement.binds, *statement.changes)) or statement.text[:40]
    said = f"{code.shown}, cell {one.cell}: {what} is not there, since"
    return f"try: {statement.text}\nexcept Exception as _problem: print({said!r}, repr(_problem))"


def standard_libraries() -> frozenset[str]:
    """The modules of Python itself, torch and numpy."""
    return frozenset(sys.stdlib_module_names) | {"torch", "numpy"}


def _notes_on_definitions(code: Code, part: Part) -> list[str]:
    notes: list[str] = []
    defined = code.defined
    for name in part.definitions:
        cells = _cells_defining(code, name)
        if len(cells) > 1:
            listed = f"in cells {', '.join(map(str, cells[:-1]))} and {cells[-1]}"
            listed = listed if cells[0] != cells[-1] else f"twice in cell {cells[0]}"
            notes.append(f"{code.shown} defines {name} {listed}; the last one was graded.")
        if name in defined:
            continue
        pattern = re.compile(rf"^[ \t]*(?:def|class)[ \t]+{re.escape(name)}\b", re.MULTILINE)
        notes += [
            f"{code.shown}: {name} stands in cell {lost.cell.number}, which {lost.fault}, so it was not graded."
            for lost in code.lost
            if pattern.search(lost.cell.source)
        ][:MOST_NOTES]
    return notes


def _cells_defining(code: Code, name: str) -> list[int]:
    """Cells with a definition of that name of its own: none that builds on an earlier one, and no copy of it."""
    seen: dict[str, int] = {}
    for cell, statement in code.placed:
        if name not in statement.binds or statement.stub or statement.kind not in ("definition", "assignment"):
            continue
        if _is_result(statement, name, code):
            continue
        builds_on = statement.kind == "assignment" and name in statement.reads
        derives = re.match(rf"class\s+{name}\s*\(.*\b{name}\b", statement.text)
        if not builds_on and not derives:
            seen[statement.text] = cell
    cells = sorted(seen.values())
    return cells if len(set(cells)) < 2 else sorted(set(cells))


def _notes_on_lost_cells(code: Code, part: Part) -> list[str]:
    """Cells that are no Python, where nothing else was said of them: what they define may be needed elsewhere."""
    spoken_of = re.compile(
        rf"^[ \t]*(?:def|class)[ \t]+(?:{'|'.join(map(re.escape, part.definitions))})\b", re.MULTILINE
    )
    lost = [one for one in code.lost if one.cell.kind == "code" and not one.fault.startswith(FOREIGN)]
    return [
        f"{code.shown}: cell {one.cell.number} {one.fault}, so nothing in it was taken."
        for one in lost
        if not spoken_of.search(one.cell.source)
    ][:MOST_NOTES]


def _notes_on_libraries(code: Code, unknown: set[str]) -> list[str]:
    return [
        f"{code.shown} imports {name}, which grading may not have: what was handed in must do without it."
        for name in sorted(unknown)
    ][:MOST_NOTES]
