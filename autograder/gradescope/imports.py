"""Do the checks and the reference import something that nothing installs on the platform?

What is installed here proves nothing there: the build would fail, after minutes of waiting. Files are read, not run.
What submissions may import is the manifest's `libraries`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from autograder.assignment import MANIFEST, Assignment

_LISTS = ("requirements.txt", "torch.txt")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def not_installed_there(assignment: Assignment) -> Iterator[tuple[Path, str]]:
    """Pairs of a file and a sentence with the remedy; files that are not Python are passed over."""
    distributions, listed = packages_distributions(), _listed()
    known = {"autograder", *sys.stdlib_module_names, *(name.partition(".")[0] for name in assignment.libraries)}
    for folder in (assignment.folder, assignment.solutions):  # parts, `given`
        known.update(path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir())
    references = [assignment.solutions / part.file for part in assignment.parts]
    for path in (*references, *assignment.check_files()):
        for name in sorted(_imported(path) - known):
            if listed.isdisjoint(map(_normal, distributions.get(name, [name]))):
                remedy = f"add it to `libraries` in {MANIFEST}, or do without"
                yield path, f"it imports {name}, which nothing installs on Gradescope: {remedy}"


def _imported(path: Path) -> set[str]:
    """The first names of all modules that a file imports, wherever in it."""
    found: set[str] = set()
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _listed() -> set[str]:
    """The distributions that the package installs."""
    lines = [
        line
        for name in _LISTS
        for line in (Path(__file__).parent / "runtime" / name).read_text(encoding="utf-8").splitlines()
    ]
    return {_normal(match[0]) for line in lines if (match := _NAME.match(line))}


def _normal(distribution: str) -> str:
    return re.sub(r"[._-]+", "-", distribution).lower()
