"""What `softmark validate` finds by reading alone: names that are not there, and what students would get too much of.

Names: what the manifest says students write stands in the reference and in the handout; a check's "where to read" is a
heading; mistakes and variants belong to a part and define something of it, and the checks that they name exist. Leaks:
no solution, no hidden check's name, key or number stands in what students get. It runs nothing; whether the reference
passes, and whether weights add up, grading tells.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from autograder.assignment.assignment import MANIFEST, Assignment, Part
from autograder.assignment.bank import bank
from autograder.authoring.entries import called, entries_that_prove_nothing, what_was_meant
from autograder.authoring.leaks import leaks, syntax_tree
from autograder.authoring.portability import imported_modules, not_there
from autograder.authoring.starter_code import HANDOUT, make_parts, solution_blocks, top_level_names

_LEADERBOARD = re.compile(r"^@leaderboard\(", re.MULTILINE)
_TEXTS = (".py", ".md", ".toml", ".ipynb", ".txt")


class Fault(msgspec.Struct, frozen=True):
    """One thing that is not as it must be: where, and a sentence with the remedy."""

    where: str
    sentence: str


def audit(assignment: Assignment) -> list[Fault]:
    """Everything wrong that can be seen without running anything, in the order of the manifest."""
    faults: list[Fault] = []
    for part in assignment.parts:
        faults += _reference(assignment, part)
    whole = not faults
    faults += [*_libraries(assignment), *_handout(assignment), *_reading(assignment), *_not_collected(assignment)]
    faults += _hidden_imports(assignment)
    faults += [Fault(where, sentence) for where, sentence in entries_that_prove_nothing(assignment)]
    if whole:  # else there is no starter code to look at
        faults += [Fault(where, sentence) for where, sentence in leaks(assignment, released_texts(assignment))]
    return faults


def remarks(assignment: Assignment) -> list[str]:
    """What is no fault, and an instructor should know before students do."""
    files = assignment.check_files()
    hidden = sorted(path.stem.removeprefix("test_") for path in files if path.parent == assignment.hidden)
    visible = {path.stem.removeprefix("test_") for path in files if path.parent != assignment.hidden}
    blind = [
        f"{part.name}: it has no visible check (checks/test_{part.file} is not there)"
        for part in assignment.parts
        if part.name not in visible
    ]
    blind += [
        f"{part.name}: it has no known mistake, so nobody knows what its checks catch; --suggest proposes some"
        for part in assignment.parts
        if not any(entry.kind == "mistake" for entry in bank(assignment, part))
    ]
    blind += [
        f"{path.stem.removeprefix('test_')}: a hidden check fills a leaderboard, which all students see"
        for path in files
        if path.parent == assignment.hidden and _LEADERBOARD.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    if not hidden:
        return blind
    return [
        *blind,
        f"{', '.join(hidden)}: while a check is hidden, Gradescope shows students no total, only the points of visible "
        "checks",
    ]


def released_texts(assignment: Assignment) -> dict[str, str]:
    """What students get, by a name that a person finds: starter code, and all of the assignment but what is hidden."""
    texts = {name: data.decode("utf-8", "replace") for name, data in make_parts(assignment).items()}
    for path in sorted(assignment.folder.rglob("*")):
        if path.suffix in _TEXTS and path.is_file() and assignment.hidden not in path.parents:
            texts[path.relative_to(assignment.folder).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    return texts


# ------------------------------------------------------------------ names


def _reference(assignment: Assignment, part: Part) -> Iterator[Fault]:
    module = syntax_tree(assignment.reference(part))
    there = top_level_names(module)
    for name in (*part.functions, *part.bonus):
        first, _, method = name.partition(".")
        if first not in there:
            near = what_was_meant(first, there) if there else ""
            yield Fault(f"solutions/{part.file}", f"the manifest has students write {name}, which is not there{near}")
        elif method and method not in _methods(module, first):
            yield Fault(f"solutions/{part.file}", f"{first} has no method {method}, which the manifest names")
    for name in _with_solutions(assignment.reference(part), module):
        if name not in part.definitions:
            yield Fault(
                f"solutions/{part.file}",
                f"students are to write {name}, as its marks say, and part {part.name} of the manifest does not name "
                "it: add it to `functions` (or to `bonus`)",
            )


def _with_solutions(path: Path, module: ast.Module) -> Iterator[str]:
    """The functions and classes of the top level in which a solution stands."""
    begun = [line for line, _ in solution_blocks(path.read_text(encoding="utf-8"), path)]
    for node in module.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in begun):
            yield node.name


def _methods(module: ast.Module, name: str) -> set[str]:
    """The methods that a class and its bases in the same file define."""
    found: set[str] = set()
    for node in module.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            found |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id != name:
                    found |= _methods(module, base.id)
    return found


def _libraries(assignment: Assignment) -> Iterator[Fault]:
    for name in assignment.libraries:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            yield Fault(MANIFEST, f"libraries names {name}, which is not installed here: install it, or take it out")
    for path, sentence in not_there(assignment):
        inside = path.is_relative_to(assignment.folder)
        yield Fault(path.relative_to(assignment.folder).as_posix() if inside else f"solutions/{path.name}", sentence)


def _handout(assignment: Assignment) -> Iterator[Fault]:
    path = assignment.folder / HANDOUT
    if not path.is_file():
        yield Fault(HANDOUT, "there is none: write what students are to do, and with which conventions")
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    for part in assignment.parts:
        for name in (*part.functions, *part.bonus):
            if not re.search(rf"\b{re.escape(name.rpartition('.')[2])}\b", text):
                yield Fault(HANDOUT, f"it does not mention {name}, which students write in {part.file}")


def _reading(assignment: Assignment) -> Iterator[Fault]:
    """Where a check sends a student to read there is something to read."""
    path = assignment.folder / HANDOUT
    if not path.is_file():
        return
    headings = re.findall(r"^#+[ \t]+(.+)$", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    for check_file in assignment.check_files():
        for node in ast.walk(syntax_tree(check_file)):
            for text in _read_marks(node):
                place = re.match(r"handout,?\s+(.+)", text, re.IGNORECASE)
                if place and not any(_is_at(heading, place[1]) for heading in headings):
                    where = check_file.relative_to(assignment.folder / "checks").as_posix()
                    yield Fault(f"checks/{where}", f'@pytest.mark.read("{text}"): {HANDOUT} has no such heading')


def _not_collected(assignment: Assignment) -> Iterator[Fault]:
    """Functions that carry a number, and that pytest passes over for their name."""
    for check_file in assignment.check_files():
        for node in syntax_tree(check_file).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("test"):
                continue
            if any(called(each) == "number" for each in node.decorator_list):
                where = check_file.relative_to(assignment.folder).as_posix()
                yield Fault(where, f"{node.name} is never run: a check's name begins with test_")


def _hidden_imports(assignment: Assignment) -> Iterator[Fault]:
    """Visible code that imports hidden code would fail where students run it: they do not have it."""
    for path in (*assignment.check_files(), *assignment.support_files()):
        if assignment.hidden not in path.parents:
            for name in sorted(imported_modules(ast.walk(syntax_tree(path)))):
                if name.partition(".")[0] == "hidden":
                    where = path.relative_to(assignment.folder).as_posix()
                    yield Fault(where, f"it imports {name}, which students do not get: move that to checks/support/")
                    break


def _read_marks(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "read":
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value


def _is_at(heading: str, place: str) -> bool:
    """Whether a heading is that place: "2.3 scores" is at "2.3", and not at "2"; any part of it names it as well."""
    number = re.match(r"[\d.]+\w*", place)
    return heading.startswith((f"{place} ", f"{place}:")) or heading == place or (not number and place in heading)
