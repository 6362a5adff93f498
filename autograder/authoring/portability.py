"""Do the checks and the reference need something that is here and not on the platform: a library, or a file?

What works here proves nothing there: the build would fail, after minutes of waiting. Files are read, not run. What
submissions may import is the manifest's `libraries`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path

from autograder.assignment.assignment import MANIFEST, Assignment

_LISTS = ("requirements.txt", "torch.txt")
_SYSTEM = frozenset({"bin", "dev", "etc", "lib", "proc", "sys", "usr"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def not_there(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Pairs of a file and a sentence with the remedy; files that are not Python are passed over."""
    yield from _not_installed_there(assignment)
    for path in _files(assignment):
        for line, text in _paths_of_this_machine(path):
            yield (
                path,
                (
                    f"line {line} names {text!r}, which is on this machine alone: put the file beside this one, and "
                    "find it from Path(__file__).parent"
                ),
            )


def _not_installed_there(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    distributions, listed = packages_distributions(), _listed()
    known = {"autograder", *sys.stdlib_module_names, *(name.partition(".")[0] for name in assignment.libraries)}
    known |= {"given", "support", "hidden", *(part.name for part in assignment.parts)}
    for path in _files(assignment):
        for name in sorted({name.partition(".")[0] for name in imported_modules(_nodes(path))} - known):
            if (path.parent / f"{name}.py").is_file() or (path.parent / name).is_dir():
                remedy = "write what it needs into this file"
                yield path, f"it imports {name}, which lies beside it and is not found from there: {remedy}"
                continue
            if listed.isdisjoint(map(_normal, distributions.get(name, [name]))):
                remedy = f"add it to `libraries` in {MANIFEST}, or do without"
                yield path, f"it imports {name}, which nothing installs on Gradescope: {remedy}"


def _files(assignment: Assignment) -> list[Path]:
    references = (assignment.solutions / part.file for part in assignment.parts)
    return [*references, *assignment.check_files(), *assignment.support_files()]


def _nodes(path: Path) -> Iterator[ast.AST]:
    try:
        yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    except (OSError, SyntaxError, ValueError):
        return


def _paths_of_this_machine(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and texts that are absolute paths of what exists here, and is no part of every system."""
    for node in _nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(("/", "~/")):
            place = Path(node.value).expanduser()
            if len(place.parts) > 2 and place.parts[1] not in _SYSTEM and len(node.value) < 4096 and _exists(place):
                yield node.lineno, node.value


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):
        return False


def imported_modules(nodes: Iterable[ast.AST], within: Sequence[str] = ()) -> set[str]:
    """The dotted names of what these nodes import. `from a import b` gives both a and a.b: either may be the module.

    `within` are the packages around the source, outermost first; without them relative imports are passed over.
    """
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (within if node.level else node.module):
            above = within[: len(within) - node.level + 1] if node.level else ()
            module = ".".join((*above, node.module) if node.module else above)
            found.update((module, *(f"{module}.{alias.name}" for alias in node.names)))
    return found


def _listed() -> set[str]:
    """The distributions that the package installs."""
    lines = [
        line
        for name in _LISTS
        for line in (Path(__file__).parents[1] / "gradescope/runtime" / name).read_text(encoding="utf-8").splitlines()
    ]
    return {_normal(match[0]) for line in lines if (match := _NAME.match(line))}


def _normal(distribution: str) -> str:
    return re.sub(r"[._-]+", "-", distribution).lower()
