"""Which functions of a part can behave differently, given which of its definitions are different.

Read off the source, not run: a definition is reached by those that name it. A check that calls none of these sees the
reference, so that a mistake need not be tried on it. Where the source could do something when it is imported, or look
names up by their text, anything may be reached, and the answer is None. `validate --matrix` tries everything all the
same, and says where this was wrong.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from autograder.diagnosis.traces import CheckTrace

# Whoever uses one of these may find a definition without naming it.
_BY_TEXT = {"__import__", "eval", "exec", "globals", "importlib", "inspect", "locals", "sys", "vars"}
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


def reached_by_entry(reference: str, entry: str) -> frozenset[str] | None:
    """The names of the part that an entry of the bank may change, laid over the reference; None: any."""
    before, laid_over = ast.parse(reference), ast.parse(entry)
    own = {name for module in (before, laid_over) for node in module.body if _defines(node) for name in _bound(node)}
    changed: set[str] = set()
    kept = {ast.dump(node) for node in before.body if isinstance(node, (ast.Import, ast.ImportFrom))}
    for node in laid_over.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            changed.update(() if ast.dump(node) in kept else _bound(node))
        elif _is_text(node) or isinstance(node, ast.Pass):
            continue
        elif isinstance(node, _Definition) and _is_quiet(node, own):
            changed.update(_bound(node))
        else:
            return None
    return _reached([before, laid_over], changed)


def reached_by_change(source: str, name: str) -> frozenset[str] | None:
    """The names of the part that a change inside the definition of `name` may change; None: any."""
    module = ast.parse(source)
    loose = [node for node in module.body if not isinstance(node, (*_Definition, ast.Import, ast.ImportFrom))]
    reached = _reached([module], {name})
    if reached is None or any(reached & set(_used(node)) for node in loose if not _is_main(node)):
        return None
    return reached


def unaffected(traces: Iterable[CheckTrace], reached: Collection[str] | None) -> frozenset[str]:
    """The checks, of those whose traces of the reference are given, that see nothing of what is reached.

    A check that failed, or did not say what it called, is not among them.
    """
    if reached is None:
        return frozenset()
    return frozenset(
        trace.number
        for trace in traces
        if trace.functions and not trace.fails and reached_in(trace.functions).isdisjoint(reached)
    )


def reached_in(functions: Iterable[str]) -> frozenset[str]:
    """Of names as checks call them, `Tokenizer.encode`, those that stand at a part's top level."""
    return frozenset(name.partition(".")[0] for name in functions)


def _reached(modules: Iterable[ast.Module], changed: Collection[str]) -> frozenset[str] | None:
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for module in modules:
        if _BY_TEXT & set(_used(module)):
            return None
        for node in module.body:
            if isinstance(node, _Definition):
                for name in _bound(node):
                    uses[name].update(_used(node))
    return _closure(uses, changed)


def _closure(uses: Mapping[str, Collection[str]], changed: Collection[str]) -> frozenset[str]:
    """Everything that uses what is changed, directly or not."""
    reached = set(changed)
    while more := {name for name, used in uses.items() if name not in reached and not reached.isdisjoint(used)}:
        reached |= more
    return frozenset(reached)


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of the top level binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _used(node: ast.AST) -> Iterator[str]:
    return (each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_main(node: ast.stmt) -> bool:
    """`if __name__ == "__main__":`, which an import passes by."""
    return isinstance(node, ast.If) and "__name__" in set(_used(node.test))


def _defines(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _is_quiet(node: ast.stmt, own: Collection[str]) -> bool:
    """Whether executing a definition does nothing but define: it calls nothing, and sets nothing but names.

    Decorators of libraries do nothing else; one of the part's `own` may.
    """
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        at_once = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return not any(map(_calls, at_once)) and not any(map(set(own).intersection, map(_used, node.decorator_list)))
    if isinstance(node, ast.ClassDef):
        at_once = [*node.bases, *(word.value for word in node.keywords)]
        return (
            not any(map(_calls, at_once))
            and not any(map(set(own).intersection, map(_used, node.decorator_list)))
            and all(_is_text(each) or isinstance(each, ast.Pass) or _is_quiet(each, own) for each in node.body)
        )
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        return all(isinstance(target, ast.Name) for target in targets) and not (value is not None and _calls(value))
    return False


def _calls(node: ast.AST) -> bool:
    return any(isinstance(each, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)) for each in ast.walk(node))
