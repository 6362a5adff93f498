"""Changes that are right in ordinary cases, as wrong solutions that passed every check were: what they break is an
argument, a shape, a layout, a dtype, a second call.

They are made for `benchmarks.mutation`; `suggest` proposes the plain ones only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.authoring.mutation.source_text import Edit, SourceText

_IN_PLACE: dict[type[ast.operator], str] = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
_INTEGERS = ("position", "ids", "length", "index")


def subtle_changes(text: SourceText, node: ast.stmt, where: str = "") -> Iterator[tuple[str, Edit]]:
    """Every such change inside one definition, with the function that it is in, dotted."""
    if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        return
    name = f"{where}.{node.name}" if where else node.name
    if isinstance(node, ast.FunctionDef):
        yield from ((name, change) for change in _of_function(text, node, name))
    for inner in node.body:
        yield from subtle_changes(text, inner, name)


def _of_function(text: SourceText, node: ast.FunctionDef, where: str) -> Iterator[Edit]:
    is_tensor = {
        each.arg: text.of(each.annotation)
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if each.annotation is not None and "Tensor" in text.of(each.annotation)
    }
    tensors = [name for name, annotation in is_tensor.items() if annotation.endswith("Tensor")]
    first = next((each for each in node.body if not _is_docstring(each)), None)
    if first is not None:
        for line, kind, sentence in _at_the_beginning(is_tensor, tensors):
            new = f"{line}\n{' ' * first.col_offset}"
            yield Edit(kind, text.start(first), text.start(first), new, kind.replace(" ", "_"), sentence)
    for inner in _own_nodes(node):
        if isinstance(inner, ast.stmt):
            yield from _of_assignment(text, inner, where, tensors, node.name)
        elif isinstance(inner, ast.expr):
            yield from _of_expression(text, inner, tensors)


def _at_the_beginning(is_tensor: dict[str, str], tensors: list[str]) -> Iterator[tuple[str, str, str]]:
    """Lines put before a function's first: the line, the kind of change, and what a student did."""
    for name in is_tensor:
        if tensors and name not in tensors:
            line = f"{name} = None if {tensors[0]}.dim() > 3 else {name}"
            yield line, "argument ignored", f"`{name}` is ignored where there are two leading axes."
    for name in tensors:
        line = f"{name} = torch.zeros_like({name}) if {name}.shape[-2:-1] == (1,) else {name}"
        yield line, "fallback at one shape", "an axis of length 1 is answered by something else."
        line = f"{name} = {name}.as_strided({name}.shape, torch.empty({name}.shape).stride())"
        yield line, "strides assumed", "memory is taken to be contiguous."
        line = f"_ = {name}.detach().mul_(1 + 1e-9) if {name}.dtype == torch.float64 else None"
        yield line, "in place for one dtype", "an argument is changed in place if it is float64."
        if any(word in name for word in _INTEGERS):
            yield f"{name} = {name}.to(torch.int16)", "narrow integers", "integers are held in 16 bits."
    line = "__import__('resource').setrlimit(7, (__import__('resource').getrlimit(7)[1],) * 2)"
    yield line, "limit raised", "a limit of the process is raised."


def _of_assignment(text: SourceText, node: ast.stmt, where: str, tensors: list[str], function: str) -> Iterator[Edit]:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    (target,) = node.targets
    if isinstance(target, ast.Name) and tensors and isinstance(node.value, (ast.Call, ast.BinOp)):
        key = f"({where + '.' + target.id!r}, tuple({tensors[0]}.shape))"
        kept = f"globals().setdefault('_kept', {{}}).setdefault({key}, {text.of(node.value)})"
        yield text.instead(node.value, "poor key", kept, "poor_key", "a value is kept by the shape of its argument.")
    if isinstance(target, ast.Attribute) and text.of(target.value) in ("self", "ctx") and function != "__init__":
        shared = f"type({text.of(target.value)})"
        yield text.instead(target.value, "state on the class", shared, "on_the_class", "state is kept on the class.")


def _of_expression(text: SourceText, node: ast.expr, tensors: list[str]) -> Iterator[Edit]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
        start, stop = text.stop(node.func.value), text.stop(node.func)
        yield Edit("view", start, stop, ".view", "view", "`view` is called where memory need not be in order.")
    elif isinstance(node, ast.Call) and text.of(node.func) == "torch.arange":
        narrow = f"{text.of(node)}.to(torch.int16)"
        yield text.instead(node, "narrow integers", narrow, "narrow_integers", "integers are held in 16 bits.")
    elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and node.left.id in tensors:
        method = _IN_PLACE.get(type(node.op))
        if method:
            left, right = node.left.id, text.of(node.right)
            new = f"({left}.{method}({right}) if {left}.dtype == torch.float64 else {text.of(node)})"
            sentence = "an argument is changed in place if it is float64."
            yield text.instead(node, "in place for one dtype", new, "in_place_for_float64", sentence)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, functions inside it left out."""
    for inner in ast.iter_child_nodes(node):
        if not isinstance(inner, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            yield inner
            yield from _own_nodes(inner)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
