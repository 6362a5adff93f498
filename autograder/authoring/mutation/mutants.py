"""Every change of a reference solution that `expression_changes` and `statement_changes` know, each with its own name.

Only code between the solution marks is changed, since that is what students write; docstrings, messages of errors and
annotations are left alone. A mutant is named by the line that it changes, so that code that moves keeps its mutants.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.authoring.mutation.expression_changes import (
    NOWHERE,
    Place,
    Sibling,
    changes_of_axis,
    changes_of_constant,
    changes_of_expression,
    changes_of_variable,
    is_negative,
    places_in,
)
from autograder.authoring.mutation.source_text import Edit, SourceText
from autograder.authoring.mutation.statement_changes import changes_of_statement
from autograder.authoring.mutation.subtle_changes import subtle_changes
from autograder.authoring.starter_code import BEGIN, END

Siblings = Mapping[str, Sibling]
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Definition = (*_Function, ast.ClassDef)
_Unchanged = (ast.Import, ast.ImportFrom, ast.Raise, ast.Global, ast.Nonlocal)


@dataclass(frozen=True)
class Mutant:
    """One change of one part's reference.

    Attributes:
        part: its name.
        where: the function or method, dotted; the name that is assigned, at a file's top level.
        line: where the change begins, from 1.
        before: the lines that it touches, on one line. after: what they become.
        occurrence: which of several such lines in `where`, from 1.
        change: what is put where.
    """

    part: str
    where: str
    line: int
    before: str
    after: str
    occurrence: int
    change: Edit

    @property
    def identity(self) -> tuple[str, str, str, str, int]:
        """What tells it from all others, wherever in the file it stands."""
        return (self.part, self.where, self.before, self.after, self.occurrence)

    @property
    def top(self) -> str:
        """The definition of the top level that it is in."""
        return self.where.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.part}.py:{self.line} {self.where} ({self.change.kind})\n  - {self.before}\n  + {self.after}"


def mutants_of(part: str, source: str, *, subtle: bool = False) -> list[Mutant]:
    """All mutants of a part's reference, in the order of their lines; no two of them are the same program.

    `subtle` asks for those of `subtle_changes` in place of the plain ones.
    """
    text = SourceText(source)
    allowed = _solution_lines(source)
    seen: Counter[tuple[str, str, str]] = Counter()
    programs = {ast.dump(text.tree)}
    found: list[Mutant] = []
    for node in text.tree.body:
        programs.add(ast.dump(node))
        for where, change in (subtle_changes if subtle else _of_top_level)(text, node):
            first, last = text.line(change.start), text.line(change.stop)
            if not all(line in allowed for line in range(first, last + 1)):
                continue
            program = _program(text, node, change)
            if program is None or program in programs:
                continue
            programs.add(program)
            before, after = _lines(text, change)
            seen[where, before, after] += 1
            found.append(Mutant(part, where, first, before, after, seen[where, before, after], change))
    return found


def sample(mutants: Iterable[Mutant], most: int, seed: int) -> list[Mutant]:
    """At most so many of them, the same for one seed: a change of the source adds and removes its own mutants only."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.identity}".encode()).digest()

    mutants = list(mutants)
    chosen = set(map(id, sorted(mutants, key=rank)[:most]))
    return [each for each in mutants if id(each) in chosen]


# ------------------------------------------------------------------ the tree, from the top


def _of_top_level(text: SourceText, node: ast.stmt) -> Iterator[tuple[str, Edit]]:
    modules = {alias.asname or alias.name.partition(".")[0] for each in text.tree.body for alias in _imported(each)}
    name = _name_of(node)
    if name:
        walk = _Walk(text, modules, [each for each in _strings(node) if each])
        yield from walk.statement(node, name, set(), {})


class _Walk:
    """Goes through one definition and yields each change with the function that it is in."""

    def __init__(self, text: SourceText, modules: set[str], strings: Sequence[str]) -> None:
        self._text, self._modules, self._strings = text, modules, strings

    def statement(self, node: ast.stmt, where: str, bound: set[str], siblings: Siblings) -> Iterator[tuple[str, Edit]]:
        if isinstance(node, _Unchanged):
            return
        if isinstance(node, _Function):
            names = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            bound, siblings = set(names), _siblings(self._text, node)
            for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                yield from self._expression(default, where, siblings)
            yield from self._body(node.body, where, bound, siblings)
            return
        if isinstance(node, ast.ClassDef):
            yield from self._body(node.body, where, set(), {})
            return
        yield from ((where, change) for change in changes_of_statement(self._text, node, bound))
        for _, value in ast.iter_fields(node):
            for part in value if isinstance(value, list) else [value]:  # pyright: ignore[reportUnknownVariableType]
                if isinstance(part, ast.stmt):
                    yield from self._body([part], where, bound, siblings)
                elif isinstance(part, ast.expr) and part is not getattr(node, "annotation", None):
                    yield from self._expression(part, where, siblings)
                elif isinstance(part, (ast.withitem, ast.ExceptHandler, ast.match_case)):
                    yield from self._inside(part, where, bound, siblings)
        bound.update(
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )

    def _inside(
        self,
        node: ast.withitem | ast.ExceptHandler | ast.match_case,
        where: str,
        bound: set[str],
        siblings: Siblings,
    ) -> Iterator[tuple[str, Edit]]:
        if isinstance(node, ast.withitem):
            yield from self._expression(node.context_expr, where, siblings)
        else:
            yield from self._body(node.body, where, bound, siblings)

    def _body(
        self, body: list[ast.stmt], where: str, bound: set[str], siblings: Siblings
    ) -> Iterator[tuple[str, Edit]]:
        for place, node in enumerate(body):
            if place == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # a docstring
            inner = f"{where}.{node.name}" if isinstance(node, _Definition) else where
            yield from self.statement(node, inner, bound, siblings)

    def _expression(
        self, node: ast.expr, where: str, siblings: Siblings, place: Place = NOWHERE
    ) -> Iterator[tuple[str, Edit]]:
        if isinstance(node, ast.JoinedStr):
            return
        yield from ((where, change) for change in self._of_expression(node, siblings, place))
        if not is_negative(node):
            for part, there in places_in(self._text, node, self._modules):
                yield from self._expression(part, where, siblings, there)

    def _of_expression(self, node: ast.expr, siblings: Siblings, place: Place) -> Iterator[Edit]:
        if isinstance(node, ast.Constant) or is_negative(node):
            others = [each for each in self._strings if each != _string(node)]
            yield from changes_of_constant(self._text, node, place, others)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield from changes_of_variable(self._text, node, siblings)
            yield from changes_of_axis(self._text, node, place)
        else:
            yield from changes_of_expression(self._text, node, self._modules)


def _siblings(text: SourceText, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Siblings:
    """For each variable of a function the one that it is easily mixed up with: assigned beside it, or the next
    parameter of the same type.
    """
    groups = [
        [each.id for each in target.elts if isinstance(each, ast.Name)]
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Assign, ast.For, ast.comprehension))
        for target in (inner.targets if isinstance(inner, ast.Assign) else [inner.target])
        if isinstance(target, ast.Tuple)
    ]
    by_type: dict[str, list[str]] = {}
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg not in ("self", "cls", "ctx") and argument.annotation is not None:
            by_type.setdefault(text.of(argument.annotation).removesuffix(" | None"), []).append(argument.arg)
    siblings: dict[str, Sibling] = {}
    for group, known in (*((each, False) for each in groups), *((each, True) for each in by_type.values())):
        if len(group) > 1:
            for name, other in zip(group, [*group[1:], group[0]], strict=True):
                siblings.setdefault(name, Sibling(other, known))
    return siblings


# ------------------------------------------------------------------ names and lines


def _program(text: SourceText, node: ast.stmt, change: Edit) -> str | None:
    """The changed definition without its places; None where it is no Python any more."""
    start, stop = text.start(node), text.stop(node)
    if isinstance(node, _Definition) and node.decorator_list:
        start = min(text.start(each) for each in node.decorator_list) - 1
    changed = text.between(start, change.start) + change.new + text.between(change.stop, stop)
    try:
        return ast.dump(ast.parse(changed).body[0])
    except SyntaxError:
        return None


def _lines(text: SourceText, change: Edit) -> tuple[str, str]:
    """The lines that a change touches, before and after, each on one line."""
    begin = text.data.rfind(b"\n", 0, change.start) + 1
    end = text.data.find(b"\n", change.stop)
    end = len(text.data) if end < 0 else end
    before = text.code_between(begin, end)
    after = text.code_between(begin, change.start) + change.new + text.code_between(change.stop, end)
    return " ".join(before.split()), " ".join(after.split())


def _solution_lines(source: str) -> set[int]:
    """The lines between the marks of solutions; all lines where there are no marks."""
    lines: set[int] = set()
    begun = 0
    every = source.splitlines()
    for number, line in enumerate(every, start=1):
        if line.strip() == BEGIN:
            begun = number
        elif line.strip() == END and begun:
            lines.update(range(begun + 1, number))
            begun = 0
    return lines or set(range(1, len(every) + 1))


def _name_of(node: ast.stmt) -> str:
    if isinstance(node, _Definition):
        return node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return next((each.id for each in targets if isinstance(each, ast.Name)), "")


def _imported(node: ast.stmt) -> list[ast.alias]:
    """Modules by `import x`; of `from torch.nn import functional as F` those whose name says so."""
    if isinstance(node, ast.Import):
        return node.names
    if isinstance(node, ast.ImportFrom):
        return [alias for alias in node.names if alias.name in ("functional", "nn")]
    return []


def _strings(node: ast.AST) -> Iterator[str]:
    """The strings of a definition, without docstrings, messages and keys."""
    if isinstance(node, (ast.Raise, ast.JoinedStr)) or (isinstance(node, ast.Expr) and _string(node.value) is not None):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    inside = node.values if isinstance(node, ast.Dict) else ast.iter_child_nodes(node)
    for part in inside:
        yield from _strings(part)


def _string(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
