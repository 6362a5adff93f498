"""What a part forbids is refused: kernels of torch, functions and classes of a library, modules by their names.

A manifest's `forbids` holds, each as a string:

* a function or class by its whole name, `torch.softmax`. Its kernels are replaced by an error wherever torch
  dispatches: under `vmap`, in TorchScript, on nested and sparse tensors. What is written in Python gets another body,
  so that whoever holds it already is refused, too.
* a group: `library attention`. (`custom operators` cannot be known before they are there: checks look for them.)
* a module, `import scipy`, or but for some of its names: `import torch.nn except torch.nn.Module`. A function of the
  submission whose source names it raises when it is called.

All this happens when the part is loaded, so that a file may try its functions against the library's; what would hand
out kernels for later is refused before. It is for good: only for a process of its own, never for the grader's.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

import torch

from .protocol.bans import LEFT_OUT, LIBRARY_ATTENTION

GROUPS: Mapping[str, tuple[str, ...]] = {
    "library attention": (
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.attention.flex_attention.flex_attention",
        "torch._higher_order_ops.flex_attention.FlexAttentionHOP",
    ),
    "custom operators": (),
}
_HAND_OUT_KERNELS = (
    "torch.library.get_kernel",
    "torch._C._dispatch_get_computed_kernel_for_dispatch_key",
    "torch._C._dispatch_call_boxed",
    "torch._C._SafeKernelFunction",
)
# A kernel's name is that of the function but for these: torch.softmax is aten::_softmax, aten::_safe_softmax ...
_BEGINNINGS = re.compile(r"^_*(special_|safe_|sparse_|masked_|mkldnn_|slow_|native_)?")
# Kernels of these keys pass on to one that is refused, or compute no numbers. Of other devices no worker has a tensor.
_PASS_ON = re.compile(r"Tracer|Meta$|Functionalize|ADInplaceOrView|Auto|\w*(HPU|XPU|MPS|XLA|Lazy)$|debug|name|schema")
_KEY = re.compile(r"^(\w+)(?:\[alias\])?(?: \(inactive\))?: ", flags=re.MULTILINE)
_TORCH: Any = torch._C  # pyright: ignore[reportPrivateUsage]
_METHODS = ("__init__", "__call__", "forward", "call_boxed")
_done: list[Any] = []  # the rules that hold, and torch's libraries of kernels: what is let go takes its kernels back


def refuse(forbidden: Sequence[str], modules: Sequence[ModuleType] | None) -> None:
    """From now on what is `forbidden` raises a `RuntimeError` that says so.

    `modules` are those of the submission; None before the part is loaded, when what hands out kernels is refused alone.
    """
    if modules is None:
        for name in _HAND_OUT_KERNELS if forbidden else ():
            _replace(name, "what hands out kernels of torch")
        return
    for rule in forbidden:
        if rule in _done:
            continue
        _done.append(rule)
        if rule.startswith("import "):
            for module in modules:
                _refuse_module(rule, module)
            continue
        names = GROUPS.get(rule, (rule,))
        words = {name.rpartition(".")[2] for name in names}
        if rule == "library attention":
            words.update(word for word in kernels() if any(part in word for part in LIBRARY_ATTENTION))
        _refuse_kernels([pair for word in words for pair in kernels().get(word, ())], rule)
        for name in names:
            _replace(name, rule)


def _refuse_kernels(pairs: Sequence[tuple[str, str]], rule: str) -> None:
    library: Any = _TORCH._dispatch_library("IMPL", "aten", "")
    refusal = _refusal(rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells of kernels that are replaced
        for operator, key in pairs:
            library.impl(operator, key, refusal)
    _done.append(library)


@functools.lru_cache(maxsize=1)
def kernels() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """By the name of a function, its kernels as (operator, dispatch key). Made once, in the fork server: 40 ms."""
    found: dict[str, list[tuple[str, str]]] = {}
    for operator in _TORCH._dispatch_get_all_op_names():
        space, _, name = operator.partition("::")
        word, _, overload = name.partition(".")
        if space == "aten":
            # `out=` passes on to the function without it, where it has no kernel of its own.
            passes_on = "Composite" if overload.endswith("out") else "none"
            for key in dict.fromkeys(_KEY.findall(_TORCH._dispatch_dump(operator))):
                if not _PASS_ON.match(key) and not key.startswith(passes_on):
                    found.setdefault(_BEGINNINGS.sub("", word), []).append((name, key))
    return {word: tuple(pairs) for word, pairs in found.items()}


def _refusal(what: str) -> Callable[..., NoReturn]:
    def refused(*_arguments: Any, **_named: Any) -> NoReturn:
        raise RuntimeError(f"{what} {LEFT_OUT}")

    return refused


def _replace(name: str, rule: str) -> None:
    """Refuse what Python finds under a dotted name, if it is loaded and this version of torch has it."""
    owner: Any = None
    *path, word = name.split(".")
    for end in range(len(path), 0, -1):
        owner = sys.modules.get(".".join(path[:end]))
        if owner is not None:
            owner = functools.reduce(lambda each, step: getattr(each, step, None), path[end:], owner)
            break
    value = getattr(owner, word, None)
    if isinstance(value, FunctionType):
        _replace_body(value, rule)
    elif isinstance(value, type):
        for method in _METHODS:
            if method in vars(value):
                setattr(value, method, _refusal(rule))
    elif value is not None:
        setattr(owner, word, _refusal(rule))


def _replace_body(function: FunctionType, what: str) -> None:
    """Whoever holds the function has the new body. It has as many free variables as the old one, as Python asks."""
    free = function.__code__.co_freevars
    body = f"raise RuntimeError({f'{what} {LEFT_OUT}'!r})\n  return ({' '.join(f'{name},' for name in free)})"
    made: dict[str, Any] = {}
    exec(f"def outer({', '.join(free)}):\n def refused(*_, **__):\n  {body}\n return refused", made)
    function.__code__ = made["outer"](*free).__code__


# ------------------------------------------------------------------ modules, by name in the source


def _refuse_module(rule: str, module: ModuleType) -> None:
    """Each function of `module` whose source names what the rule does raises, with the line, when it is called."""
    banned, _, excepted = rule.removeprefix("import ").partition(" except ")
    with open(str(module.__file__), "rb") as file:
        tree = ast.parse(file.read())
    lines = dict(_lines_that_name(tree, banned, tuple(excepted.replace(" ", "").split(",")) if excepted else ()))
    for value in list(vars(module).values()):
        for function in _functions(value, str(module.__file__)):
            line = next((line for line in sorted(_lines_of(function.__code__)) if line in lines), None)
            if line is not None:
                _replace_body(function, f"{lines[line]} (line {line})")
    for node in tree.body:  # what is the library's own under a name of the submission, or made of it
        bases = node.bases if isinstance(node, ast.ClassDef) else ()
        line = next((base.lineno for base in bases if base.lineno in lines), 0)
        if line and isinstance(node, ast.ClassDef) and isinstance(made := getattr(module, node.name, None), type):
            made.__init__ = _refusal(f"{lines[line]} (line {line})")
        if node.lineno in lines and isinstance(node, (ast.Assign, ast.ImportFrom)):
            for each in node.names if isinstance(node, ast.ImportFrom) else node.targets:
                name = str(getattr(each, "asname", None) or getattr(each, "name", "") or getattr(each, "id", ""))
                if callable(getattr(module, name, None)):
                    setattr(module, name, _refusal(f"{lines[node.lineno]} (line {node.lineno})"))


def _lines_that_name(tree: ast.Module, banned: str, excepted: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each line with the name on it that the rule means: of an import, or of what an import has made known."""
    known: dict[str, str] = {}  # names of the file by what they stand for
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                known[alias.asname or first] = alias.name if alias.asname else first
                names.append(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                names.append(f"{node.module}.{alias.name}")
        for name in names:
            if isinstance(node, ast.stmt) and _is_banned(name, banned, excepted):
                yield node.lineno, name
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)):
            name = ast.unparse(node) if _is_dotted(node) else ""
            first, dot, rest = name.partition(".")
            name = known.get(first, "") + dot + rest if first in known else ""
            if _is_banned(name, banned, excepted):
                yield node.lineno, name


def _is_dotted(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _is_dotted(node.value))


def _is_banned(name: str, banned: str, excepted: Sequence[str]) -> bool:
    """A name inside the module, and neither inside an exception nor on the way to one."""
    return _within(name, banned) and not any(_within(name, each) or _within(each, name) for each in excepted)


def _within(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.")


def _functions(value: Any, file: str) -> Iterator[FunctionType]:
    """The functions that a value of a module stands for: itself, or the methods of a class."""
    members = list(vars(value).values()) if isinstance(value, type) else [value]
    for member in members:
        for each in (member, *(getattr(member, name, None) for name in ("__func__", "__wrapped__", "fget"))):
            if isinstance(each, FunctionType) and each.__code__.co_filename == file:
                yield each


def _lines_of(code: CodeType) -> set[int]:
    inner = [_lines_of(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {line for _, _, line in code.co_lines() if line is not None}.union(*inner)
