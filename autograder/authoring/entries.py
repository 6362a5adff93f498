"""Mistakes and variants that prove nothing, found by reading: nobody tries them, they change nothing, no such check.

It runs nothing; whether a mistake is caught stands in `proof`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

from autograder.assignment.assignment import Assignment, Part
from autograder.assignment.bank import FOLDERS, BankEntry, bank
from autograder.assignment.leftovers import is_leftover
from autograder.assignment.manifest import nearest
from autograder.authoring.leaks import syntax_tree
from autograder.authoring.starter_code import top_level_names


def entries_that_prove_nothing(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Pairs of a place and a sentence with the remedy."""
    parts = {part.name for part in assignment.parts}
    for _, folder in FOLDERS:
        for path in sorted((assignment.solutions / folder).glob("*")):
            where = f"solutions/{folder}/{path.name}"
            if path.suffix == ".py" and path.is_file():
                yield (where, f"it belongs to no part: move it to {folder}/<part>/, or it is never tried")
            elif path.is_dir() and path.name not in parts and not is_leftover(PurePath(path.name)):
                yield (where, f"no part is called so, and nothing in it is tried{what_was_meant(path.name, parts)}")
    numbers = set(_numbers(assignment))
    for part in assignment.parts:
        reference = _names(syntax_tree(assignment.reference(part)))
        for entry in bank(assignment, part):
            idle = _idle(entry, part, reference)
            if idle:
                yield (f"solutions/{entry.kind}s/{part.name}/{entry.path.name}", idle)
            for number in entry.caught_by:
                if numbers and number not in numbers:
                    where = f"solutions/mistakes/{part.name}/{entry.path.name}"
                    yield (
                        where,
                        f"CAUGHT_BY names check {number}, which does not exist{what_was_meant(number, numbers)}",
                    )


def _names(module: ast.Module) -> set[str]:
    """What a definition laid over the module can replace: what it defines, imports or reads."""
    imported = {
        alias.asname or alias.name
        for node in module.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    return top_level_names(module) | imported | {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}


def _idle(entry: BankEntry, part: Part, reference: set[str]) -> str:
    """Why laying this over the reference changes nothing; "" where it may, as by what it runs or by its weights."""
    module = ast.parse(entry.source())
    own = top_level_names(module).difference(("CAUGHT_BY", "CRASHES"))
    passive = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)
    runs = any(not isinstance(node, passive) for node in module.body[1:])  # the first is the docstring
    if own & reference or runs or entry.weights():
        return ""
    what = f"it defines {', '.join(sorted(own))}, and" if own else "it defines"
    near = [what_was_meant(name, set(part.definitions)) for name in sorted(own)]
    meant = next(
        (words for words in near if "did you mean" in words), f"; students write {', '.join(part.definitions)}"
    )
    return f"{what} nothing that stands in {part.file}, so it is the reference as it is{meant}"


def _numbers(assignment: Assignment) -> Iterator[str]:
    """The numbers of the checks, where all are written out; none where one is computed."""
    found: list[str] = []
    for path in assignment.check_files():
        for node in ast.walk(syntax_tree(path)):
            if not (isinstance(node, ast.Call) and called(node) == "number"):
                continue
            if not (node.args and isinstance(node.args[0], ast.Constant)):
                return iter(())
            found.append(str(node.args[0].value))
    return iter(found)


def called(node: ast.expr) -> str:
    """The name of a function that is called by it; "" where it is no such call."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def what_was_meant(word: str, known: set[str]) -> str:
    """What was meant, as the end of a sentence without its mark."""
    return nearest(word, known).rstrip(".")
