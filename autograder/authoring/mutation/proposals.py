"""A change of the reference as a file of the bank: the definition that it changes, a sentence, and what must catch it.

It says what the file holds; whether any check catches it is found out elsewhere, with the file as it is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from autograder.authoring.mutation.mutants import Mutant
from autograder.authoring.mutation.source_text import SourceText
from autograder.authoring.starter_code import BEGIN, END, STARTER

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_INDENT = "    "


@dataclass(frozen=True)
class Proposal:
    """A change that may become a mistake of the bank. `name` is that of its file, `code` the definition as changed."""

    name: str
    mutant: Mutant
    sentence: str
    code: str

    def file(self, caught_by: Sequence[str]) -> str:
        """The file's text."""
        numbers = ", ".join(f'"{number}"' for number in caught_by)
        return f'"""{self.sentence}"""\n\nCAUGHT_BY = [{numbers}]\n\n\n{self.code}'


def proposals_of(source: str, mutants: Sequence[Mutant]) -> list[Proposal]:
    """One for each change of a part's reference, each with a name of its own."""
    text = SourceText(source)
    used: Counter[str] = Counter()
    found: list[Proposal] = []
    for mutant in mutants:
        name = f"{_snake(mutant.where)}_{mutant.change.name}"
        used[name] += 1
        name = name if used[name] == 1 else f"{name}_{used[name]}"
        sentence = f"In `{mutant.where}`, {mutant.change.sentence}"
        found.append(Proposal(name, mutant, sentence, _changed_definition(text, mutant)))
    return found


def _snake(where: str) -> str:
    """MultiHeadAttention.forward -> multi_head_attention_forward"""
    return "_".join(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).strip("_") for word in where.split(".")).lower()


def _changed_definition(text: SourceText, mutant: Mutant) -> str:
    """The definition of the top level that holds the change, as short as it can be laid over the reference."""
    place = next(
        index for index, node in enumerate(text.tree.body) if text.start(node) <= mutant.change.start < text.stop(node)
    )
    changed = SourceText(text.replaced(mutant.change))
    node = changed.tree.body[place]
    method = _method_alone(node, mutant)
    if method is None or not isinstance(node, ast.ClassDef):
        return _code(changed, node)
    return f"class {node.name}({node.name}):\n" + indent(
        _code(changed, method), _INDENT, lambda line: line.strip() != ""
    )


def _method_alone(node: ast.stmt, mutant: Mutant) -> ast.FunctionDef | None:
    """The method that holds the change, where deriving from the class replaces it and nothing else.

    In a derived class `super()` means another one, and a decorator of the class would be lost.
    """
    if not isinstance(node, ast.ClassDef) or node.decorator_list or mutant.where.count(".") != 1:
        return None
    method = next((each for each in node.body if _is_called(each, mutant.where.partition(".")[2])), None)
    if not isinstance(method, ast.FunctionDef):
        return None
    names = {each.id for each in ast.walk(method) if isinstance(each, ast.Name)}
    private = any(isinstance(each, ast.Attribute) and each.attr.startswith("__") for each in ast.walk(method))
    return None if "super" in names or private else method


def _is_called(node: ast.stmt, name: str) -> bool:
    return isinstance(node, _Definition) and node.name == name


def _code(text: SourceText, node: ast.stmt) -> str:
    """A statement without docstring and marks, from the margin."""
    lines = text.source.splitlines()
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    kept = dict(enumerate(lines[first - 1 : node.end_lineno], start=first))
    for each in ast.walk(node):
        if isinstance(each, _Definition):
            for line in _docstring_lines(each):
                kept.pop(line, None)
    code = [line for line in kept.values() if not _is_mark(line)]
    margin = len(code[0]) - len(code[0].lstrip())
    return "\n".join(line[margin:].rstrip() for line in code).strip("\n") + "\n"


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> range:
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return range(first.lineno, (first.end_lineno or first.lineno) + 1) if told and len(node.body) > 1 else range(0)


def _is_mark(line: str) -> bool:
    return line.strip() in (BEGIN, END) or STARTER.match(line.strip()) is not None
