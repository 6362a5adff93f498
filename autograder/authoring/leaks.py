"""Does what students get hold anything that they must not have?

A solution counts as given away where half of the lines between two marks that are long enough to tell stand in one
file, or where what students are to write stands in the starter as in the reference. Of hidden checks no function's
name, no key, no number of six digits and no long text may stand anywhere. Short lines and small numbers tell nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.assignment.assignment import Assignment, Part
from autograder.authoring.starter_code import solution_blocks
from autograder.errors import SoftmarkError

_TELLING_LINE = 20
_TELLING_DIGITS = 6
_TELLING_TEXT = 40
_DECLARATIONS = ("#", "def ", "class ", "import ", "from ", '"""', "@", "return None", "raise ")


def leaks(assignment: Assignment, released: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Pairs of a released file and what it gives away, in a sentence."""
    plain = {name: _plain(text) for name, text in released.items()}
    for part in assignment.parts:
        yield from _unmarked(assignment, part, released[part.file])
        yield from _solutions(assignment, part, plain)
    yield from _hidden_checks(assignment, released, plain)


def syntax_tree(path: Path) -> ast.Module:
    """A file's syntax tree. Raises `SoftmarkError` where it is not Python."""
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise SoftmarkError(f"{path}, line {error.lineno}, is not Python: {error.msg}.") from error
    except UnicodeDecodeError as error:
        raise SoftmarkError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _solutions(assignment: Assignment, part: Part, plain: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    path = assignment.reference(part)
    for begun, lines in solution_blocks(path.read_text(encoding="utf-8"), path):
        telling = [_plain(line) for line in lines if len(line) >= _TELLING_LINE and not line.startswith(_DECLARATIONS)]
        for name, text in plain.items():
            found = [line for line in telling if line in text]
            if found and 2 * len(found) >= len(telling):
                yield name, f"it holds the solution in line {begun} of {part.file}, such as `{found[0][:60]}`"


def _unmarked(assignment: Assignment, part: Part, starter: str) -> Iterator[tuple[str, str]]:
    """What students are to write, and the starter holds as the reference does."""
    reference = _definitions(syntax_tree(assignment.reference(part)))
    left = _definitions(ast.parse(starter))
    for name in part.definitions:
        if name in left and left[name] == reference.get(name):
            yield (
                part.file,
                f"students are to write {name}, and the starter holds it as the reference does: put '# BEGIN SOLUTION' "
                f"and '# END SOLUTION' around what they write",
            )


def _definitions(module: ast.Module) -> dict[str, str]:
    """What the top level defines, by name, as its syntax tree is written."""
    found: dict[str, str] = {}
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = ast.dump(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update({target.id: ast.dump(node) for target in targets if isinstance(target, ast.Name)})
    return found


# ------------------------------------------------------------------ hidden checks


def _hidden_checks(
    assignment: Assignment, released: Mapping[str, str], plain: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    key = assignment.hidden / "key"
    secret = key.read_text(encoding="utf-8", errors="replace").strip() if key.is_file() else ""
    visible = {name for path in (assignment.folder / "checks").glob("test_*.py") for name in _tests(syntax_tree(path))}
    for name, text in plain.items():
        if len(secret) >= _TELLING_DIGITS and secret in text:
            yield name, "it holds the key of the hidden checks, from which their draws follow: give them another key"
    for path in sorted(assignment.hidden.rglob("*.py")):
        tree = syntax_tree(path)
        for function in sorted(_tests(tree) - visible):
            yield from _found(rf"\b{re.escape(function)}\b", f"{function}, a hidden check", released)
        for value in sorted(_telling_numbers(tree)):
            yield from _found(rf"(?<![\w.]){re.escape(value)}(?!\w)", f"{value}, a number of {path.name}", released)
        for text in sorted(_telling_texts(tree)):
            yield from _found(re.escape(_plain(text)), f"a text of hidden/{path.name}, '{text[:40]}...'", plain)


def _found(pattern: str, what: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in texts.items():
        if re.search(pattern, text):
            yield name, f"it holds {what}"


def _tests(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def _telling_numbers(tree: ast.Module) -> set[str]:
    """Numbers that nobody would write by chance, as Python writes them."""
    numbers = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {
        repr(value)
        for value in numbers
        if isinstance(value, (int, float)) and len(re.sub(r"\D", "", repr(value)).strip("0")) >= _TELLING_DIGITS
    }


def _telling_texts(tree: ast.Module) -> set[str]:
    """Long texts, docstrings apart: students read the first line of those."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and isinstance(node.body[0], ast.Expr)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and len(node.value) >= _TELLING_TEXT
    }
