"""The starter code, made from the reference solutions: what stands between the solution marks is taken out.

    def softmax(x, dim):                          def softmax(x, dim):
        # BEGIN SOLUTION                              raise NotImplementedError
        z = (x - x.amax(dim, True)).exp()    ->
        return z / z.sum(dim, True)
        # END SOLUTION

A block inside a function becomes `raise NotImplementedError`, or the code of its `# STARTER: ` lines where
it has some; a block between functions disappears, its `# STARTER: ` lines apart. Beside the parts stand the handout,
its figures, the notebook and what the assignment gives as it is (`given/`). It does not decide which files are released
(the bundle does), and does not run a solution.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from autograder.assignment.assignment import GIVEN, Assignment, Part
from autograder.assignment.leftovers import is_leftover
from autograder.authoring import notebook
from autograder.authoring.tasks import with_tasks
from autograder.errors import SoftmarkError

BEGIN = "# BEGIN SOLUTION"
END = "# END SOLUTION"
STARTER = re.compile(r"#\s?STARTER:(?: (?P<code>.*))?$")
MARK_LIKE = re.compile(r"#.*\b(?:BEGIN|END)\s+SOLUTIONS?\b", re.IGNORECASE)
HANDOUT = "handout.md"
MISSING = "raise NotImplementedError"
AS_THEY_ARE = (GIVEN, "figures")
"""Folders of the assignment that students get as they are."""
GENERATED = ("*.py", "*.md", "*.ipynb", *(f"{folder}/**/*" for folder in AS_THEY_ARE))


def make_starter(assignment: Assignment) -> dict[str, bytes]:
    """The files of `starter_code/<assignment>/` by name: parts, the handout as `README.md`, notebook, and so on.

    Raises:
        SoftmarkError: what `make_parts` raises, a handout that contradicts the manifest, a script that makes no
            notebook (or jupytext is not there), a mark of a solution in what is given as it is.
    """
    files = make_parts(assignment)
    handout = assignment.folder / HANDOUT
    if handout.is_file():
        files["README.md"] = with_tasks(handout.read_text(encoding="utf-8"), assignment).encode()
    script = assignment.folder / notebook.SOURCE
    if script.is_file():
        _refuse_marks(script)
        files[notebook.MADE] = notebook.as_notebook(script.read_text(encoding="utf-8"), script)
    for path in _files_in(assignment.folder, [f"{folder}/**/*" for folder in AS_THEY_ARE]):
        if path.suffix == ".py":
            _refuse_marks(path)
        files[path.relative_to(assignment.folder).as_posix()] = path.read_bytes()
    return files


def make_parts(assignment: Assignment) -> dict[str, bytes]:
    """The files that students complete, by name.

    Raises:
        SoftmarkError: marks that do not balance (file and line), a solution that is missing or leaves no Python behind.
    """
    return {part.file: _starter_of(assignment, part).encode() for part in assignment.parts}


def write_starter(assignment: Assignment) -> list[str]:
    """Write the starter code and return the names that changed. Generated files that are no longer made are removed."""
    files = make_starter(assignment)
    changed = _changed(assignment, files)
    for name in changed:
        path = assignment.starter / name
        if name in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        else:
            path.unlink()
    return changed


def stale(assignment: Assignment) -> list[str]:
    """The names of starter files that differ from what the solutions yield, lack, or are too many."""
    return _changed(assignment, make_starter(assignment))


def write_tasks(assignment: Assignment) -> bool:
    """Write the table of tasks into the handout itself, where it has a place for it; whether that changed anything."""
    handout = assignment.folder / HANDOUT
    changed = tasks_are_stale(assignment)
    if changed:
        handout.write_text(with_tasks(handout.read_text(encoding="utf-8"), assignment), encoding="utf-8")
    return changed


def tasks_are_stale(assignment: Assignment) -> bool:
    """Whether the table of tasks in the handout differs from what manifest, checks and headings say."""
    handout = assignment.folder / HANDOUT
    text = handout.read_text(encoding="utf-8") if handout.is_file() else ""
    return with_tasks(text, assignment) != text


def _changed(assignment: Assignment, files: dict[str, bytes]) -> list[str]:
    there = {path.relative_to(assignment.starter).as_posix(): path for path in _files_in(assignment.starter, GENERATED)}
    differs = {name for name, data in files.items() if name not in there or there[name].read_bytes() != data}
    return sorted(differs | (there.keys() - files.keys()))


def _files_in(folder: Path, patterns: Iterable[str]) -> list[Path]:
    """The files that match, what programs left behind apart."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(path for path in found if not is_leftover(path.relative_to(folder)))


def _refuse_marks(path: Path) -> None:
    """Raises `SoftmarkError` for a mark of a solution in a file that students get with all that is in it."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if MARK_LIKE.search(line):
            raise SoftmarkError(
                f"{path}, line {number}: students get this file as it is, so no solution may stand in it."
            )


def without_solution(source: str, path: Path) -> str:
    """One file's source with its solutions taken out. `path` is for the error sentences.

    Raises:
        SoftmarkError: a mark without its partner, within another block, or misspelt.
    """
    functions = _functions(source)
    kept: list[str] = []
    block: list[str] | None = None
    begun = 0
    for number, line in enumerate(source.splitlines(), start=1):
        text = line.strip()
        if text == BEGIN:
            if block is not None:
                raise SoftmarkError(f"{path}, line {number}: '{BEGIN}' within the block that begins in line {begun}.")
            block, begun = [line], number
        elif text == END:
            if block is None:
                raise SoftmarkError(f"{path}, line {number}: '{END}' without '{BEGIN}' before it.")
            kept.extend(_replacement(block, in_function=any(begun in lines for lines in functions)))
            block = None
        elif MARK_LIKE.search(line):
            raise SoftmarkError(f"{path}, line {number}: write the mark alone in its line, as '{BEGIN}' or '{END}'.")
        elif block is not None:
            block.append(line)
        else:
            kept.append(line)
    if block is not None:
        raise SoftmarkError(f"{path}, line {begun}: '{BEGIN}' has no '{END}' after it.")
    return _tidy("\n".join(kept))


def solution_blocks(source: str, path: Path) -> list[tuple[int, list[str]]]:
    """What stands between the marks: the line of each `# BEGIN SOLUTION`, and the stripped lines after it.

    Raises `SoftmarkError` as `without_solution` does.
    """
    without_solution(source, path)
    blocks: list[tuple[int, list[str]]] = []
    inside = False
    for number, line in enumerate(source.splitlines(), start=1):
        text = line.strip()
        if text == BEGIN:
            blocks.append((number, []))
        elif inside and text != END:
            blocks[-1][1].append(text)
        inside = text == BEGIN or (inside and text != END)
    return blocks


def _functions(source: str) -> list[range]:
    """The lines of every function and method; none where the source is not Python, of which the marks tell first."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return []
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in functions]


def _replacement(block: list[str], *, in_function: bool) -> list[str]:
    """What stands in the starter instead of a block (its first line is the mark, whose indent counts)."""
    indent = block[0][: len(block[0]) - len(block[0].lstrip())]
    found = [match for line in block[1:] if (match := STARTER.match(line.strip()))]
    if found:
        return [f"{indent}{match['code']}" if match["code"] else "" for match in found]
    return [f"{indent}{MISSING}"] if in_function else []


def _tidy(source: str) -> str:
    """At most two empty lines in a row, none at the ends, one final newline."""
    return re.sub(r"\n{4,}", "\n\n\n", source).strip("\n") + "\n"


def _starter_of(assignment: Assignment, part: Part) -> str:
    path = assignment.reference(part)
    source = without_solution(path.read_text(encoding="utf-8"), path)
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        raise SoftmarkError(f"{path}: what is left without its solutions is not Python: {error.msg}.") from error
    left = top_level_names(module)
    for name in part.definitions:
        if name not in left:
            raise SoftmarkError(f"{path}: without its solutions it lacks {name}, which students are to write.")
    return source


def top_level_names(module: ast.Module) -> set[str]:
    """What the module's top level defines or assigns."""
    names: set[str] = set()
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names
