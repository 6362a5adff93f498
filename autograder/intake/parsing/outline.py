"""A syntax tree -> what each of its top-level statements is, binds, changes and reads. Nothing is run.

It describes; which statements are taken is decided by whoever asked (`autograder.intake.assembly`).
"""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Iterator
from typing import Any

LOADS = frozenset(
    {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS", "LOAD_FROM_DICT_OR_DEREF"}
)
STORES = frozenset({"STORE_NAME", "STORE_GLOBAL"})
MUTATORS = frozenset(
    {"append", "extend", "insert", "update", "setdefault", "add", "register_buffer", "register_parameter"}
)
SETTINGS = frozenset({"torch.set_default_dtype", "sys.setrecursionlimit"})
"""Calls at top level that definitions may rely on."""
REFUSED_CALLS = frozenset({"exit", "quit", "input", "breakpoint", "get_ipython"})
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Definition = (*Function, ast.ClassDef)
Simple = (ast.Assign, ast.AnnAssign, ast.AugAssign)
Inert = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp)


def outline(module: ast.Module, text: str) -> Iterator[dict[str, Any]]:
    """Describe each top-level statement as plain data, with the keys of `autograder.intake.statements.Statement`."""
    lines = text.split("\n")
    for node in module.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield _import(node, alias)
        else:
            yield _statement(node, lines)


def _import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> dict[str, Any]:
    """One imported name a statement, so that one missing library does not take the others with it."""
    if isinstance(node, ast.Import):
        module, one, bound = alias.name, ast.Import([alias]), alias.asname or alias.name.partition(".")[0]
    else:
        module = "." * node.level + (node.module or "")
        one, bound = ast.ImportFrom(node.module, [alias], node.level), alias.asname or alias.name
    return {
        "kind": "import",
        "line": node.lineno,
        "text": ast.unparse(one),
        "binds": [] if bound == "*" else [bound],
        "module": module,
        "star": bound == "*",
    }


def _statement(node: ast.stmt, lines: list[str]) -> dict[str, Any]:
    text, line = _text(node, lines)
    described: dict[str, Any] = {"kind": _kind(node), "line": line, "text": text}
    try:
        code = compile(ast.Module([node], []), "cell", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # a `return` or `await` outside a function
        return {**described, "kind": "other", "eligible": False}
    described["binds"] = sorted({str(one.argval) for one in dis.get_instructions(code) if one.opname in STORES})
    described["reads"] = sorted(_reads(code))
    described["changes"] = sorted({*_changes(node), *_registered_with(node)})
    described["eligible"] = isinstance(node, Definition) or _is_eligible(node)
    described["inert"] = isinstance(node, Simple) and _is_inert(node.value)
    described["stub"] = _is_stub(node)
    described["wraps"] = sorted(set(_wraps(node)))
    return described


def _kind(node: ast.stmt) -> str:
    if isinstance(node, Definition):
        return "definition"
    if isinstance(node, Simple) or type(node).__name__ == "TypeAlias":
        return "assignment"
    if isinstance(node, ast.Expr):
        return "setting" if _is_setting(node) else "expression"
    return "block" if isinstance(node, (ast.If, ast.Try, ast.With, ast.For)) else "other"


def _text(node: ast.stmt, lines: list[str]) -> tuple[str, int]:
    """The statement's own text with its decorators, and the line where it begins, from 1."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    first = min([node.lineno, *(one.lineno for one in decorators)])
    last = node.end_lineno or node.lineno
    own = [line.encode() for line in lines[first - 1 : last]]
    own[-1] = own[-1][: node.end_col_offset]
    if not decorators:
        own[0] = own[0][node.col_offset :]
    return b"\n".join(own).decode("utf-8", "replace"), first


def _reads(code: types.CodeType) -> set[str]:
    """Every global name that the code, or a function or class within it, looks up."""
    names = {str(one.argval) for one in dis.get_instructions(code) if one.opname in LOADS}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _reads(constant)
    return names


def _changes(node: ast.AST) -> Iterator[str]:
    """Names of what a statement changes without binding it: `d[k] = v`, `Class.f = f`, `names.append(x)`."""
    if isinstance(node, (*Definition, ast.Lambda)):
        return
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
        yield from _root(node)
    if isinstance(node, ast.AugAssign):
        yield from _root(node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
            yield from _root(call.func)
        elif isinstance(call.func, ast.Name) and call.func.id == "setattr" and call.args:
            yield from _root(call.args[0])
    for child in ast.iter_child_nodes(node):
        yield from _changes(child)


def _registered_with(node: ast.stmt) -> Iterator[str]:
    """Names to which a decorator may add the definition: `@add_to_class(Attention)`, `@layers.register("mine")`."""
    for decorator in node.decorator_list if isinstance(node, Definition) else []:
        if isinstance(decorator, ast.Call):
            for one in (decorator.func, *decorator.args):
                if not isinstance(one, ast.Name) or one is not decorator.func:
                    yield from _root(one)


def _wraps(node: ast.stmt) -> Iterator[str]:
    """Names by which an assigned value may be a function (`f = g`, `f = jit(g)`); "lambda" and "." need no name."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    if isinstance(value, ast.Attribute):
        yield "."
    for one in value.args if isinstance(value, ast.Call) else [value]:
        if isinstance(one, ast.Name):
            yield one.id
        elif isinstance(one, ast.Lambda):
            yield "lambda"


def _root(node: ast.AST) -> Iterator[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _is_eligible(node: ast.stmt, *, nested: bool = False) -> bool:
    """Whether a statement gives names their values and does nothing else that we would have to run."""
    if (
        isinstance(node, (*Simple, ast.Import, ast.ImportFrom, ast.Pass, *Definition))
        or type(node).__name__ == "TypeAlias"
    ):
        return not _calls_refused(node)
    if isinstance(node, ast.Expr):
        return not _calls_refused(node) and (
            any(True for _ in _changes(node)) or _is_setting(node) or (nested and _is_idle(node))
        )
    if isinstance(node, (ast.Raise, ast.Continue, ast.Break)):
        return nested
    if isinstance(node, ast.If) and _is_main_guard(node):
        return False
    if isinstance(node, (ast.If, ast.Try, ast.With, ast.For)):
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        handlers = node.handlers if isinstance(node, ast.Try) else []
        inner += [one for handler in handlers for one in handler.body]
        return all(_is_eligible(one, nested=True) for one in inner)
    return False


def _is_idle(node: ast.Expr) -> bool:
    """A string that says something, or a `print` or a warning."""
    if isinstance(node.value, ast.Constant):
        return True
    return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in ("print", "warnings.warn", "display")


def _is_setting(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in SETTINGS


def _is_main_guard(node: ast.If) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))


def _calls_refused(node: ast.stmt) -> bool:
    """Whether it would wait, end the program, or ask IPython, at top level."""
    if isinstance(node, Definition):
        return False
    return any(
        isinstance(one, (ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in REFUSED_CALLS)
        for one in ast.walk(node)
    )


def _is_inert(value: ast.expr | None) -> bool:
    """Whether evaluating it cannot fail: plain literals and lambdas."""
    if value is None or isinstance(value, ast.Lambda):
        return True
    return isinstance(value, Inert) and all(
        _is_inert(child) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)
    )


def _is_stub(node: ast.AST) -> bool:
    """A function that only raises NotImplementedError or does nothing; a class whose own methods do so."""
    if isinstance(node, ast.ClassDef):
        methods = [one for one in node.body if isinstance(one, Function) and not one.name.startswith("__")]
        return bool(methods) and all(_is_stub(one) for one in methods)
    if not isinstance(node, Function):
        return False
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if not body or all(isinstance(one, ast.Pass) for one in body):
        return True
    return _raises_not_implemented(body[-1]) and not any(isinstance(one, ast.Return) for one in ast.walk(node))


def _raises_not_implemented(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return False
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
