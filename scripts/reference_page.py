"""Writes docs/reference.md, all that a check can use, from the code: `python scripts/reference_page.py`.

Names, arguments and sentences are those of the docstrings, read and not run; figures are the constants that hold.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment.manifest import Limits, schema_of_manifest
from autograder.grading import line, workers
from autograder.testing import weights
from autograder.worker.protocol import values

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference.md"
CODE = ROOT / "autograder"
MIB = 1 << 20

HEAD = """# All that a check can use

Made from the code by `make docs`. How to use it is told in [writing checks](writing-checks.md);
`help()` of a function tells shapes, units and errors of each argument.
"""
CROSSES = """
## What crosses the boundary

| | to the student | from the student |
|---|---|---|
| None, bool, int, float, complex, str, bytes | yes | yes |
| list, tuple, dict, set, frozenset, range, slice | yes | yes; a subclass as what it extends |
| tensors | yes, transposed, sliced and expanded ones as they are | numbers, shape, dtype; contiguous, no graph |
| numpy arrays; single numbers of numpy | yes; as a number | yes; as a number |
| `torch.dtype`, `torch.device`; `torch.Size` | yes; as a tuple | yes; as a tuple |
| named tuples; dataclasses | yes, with their names | as a tuple; a handle |
| `torch.Generator`, `random.Random`, numpy's | a copy | a handle |
| functions | of a library, by name; `student.callback(f)`; `@in_worker`; `student.f` | a handle |
| objects of the submission | handles that the student gave | a handle |
| anything else | `CannotCross`, with the place of it and the remedy | a handle |

A handle is taken where the reference gives an object, too; elsewhere the check fails, and says which kind came.
"""


def page() -> str:
    """The whole page."""
    sections = [
        HEAD,
        _section("Fixtures", _methods("grading/plugin.py", "Checks", decorated="fixture"), call=False),
        _section("`student`: what is asked in another process", _methods("grading/proxy.py", "Student"), "student."),
        "What `student.stream` gives:\n\n" + _table(_methods("grading/proxy.py", "RemoteStream"), "stream."),
        _section("`cases`: draws", _methods("testing/cases.py", "Cases"), "cases."),
        _marks(),
        *map(_module, sorted((CODE / "testing").glob("[a-z]*.py"))),
        CROSSES,
        _limits(),
        _manifest(),
    ]
    return "\n".join(sections).rstrip() + "\n"


# ------------------------------------------------------------------ from docstrings


Described = tuple[str, str, str]
"""Name, arguments, the first sentences of the docstring."""


def _methods(file: str, name: str, decorated: str = "") -> list[Described]:
    """The public methods of a class; with `decorated` those that have such a decorator."""
    tree = ast.parse((CODE / file).read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    methods = [node for node in found.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return [
        _described(node)
        for node in methods
        if decorated in "".join(map(ast.unparse, node.decorator_list)) and (decorated or ast.get_docstring(node))
    ]


def _module(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = [
        _described(node)
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not _is_protocol(node)
    ]
    title = (ast.get_docstring(tree) or "").partition("\n")[0]
    return f"\n## `autograder.testing.{path.stem}`\n\n{title}\n\n{_table(own)}"


def _is_protocol(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases)


def _described(node: ast.FunctionDef | ast.ClassDef) -> Described:
    first = (ast.get_docstring(node) or "").split("\n\n")[0]
    return node.name, _arguments(node), re.sub(r"\s+", " ", first).replace("|", "\\|")


def _arguments(node: ast.FunctionDef | ast.ClassDef) -> str:
    """Names and defaults, without annotations."""
    if isinstance(node, ast.ClassDef):
        makers = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        return _arguments(makers[0]) if makers else ""
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    for argument in every:
        if argument is not None:
            argument.annotation = None
    text = ast.unparse(node.args)
    return text.removeprefix("self").removeprefix(", ")


def _section(title: str, found: list[Described], prefix: str = "", *, call: bool = True) -> str:
    return f"\n## {title}\n\n{_table(found, prefix, call=call)}"


def _table(found: list[Described], prefix: str = "", *, call: bool = True) -> str:
    rows = [
        f"| `{prefix}{name}{f'({arguments})' if call else ''}` | {text} |".replace("lambda n: ()", "none")
        for name, arguments, text in found
    ]
    return "\n".join(["| | |", "|---|---|", *rows, ""])


# ------------------------------------------------------------------ decorators, markers, limits, manifest

DECORATORS = {
    "number": '`@number("2.3a")`: unique; results stand in this order',
    "weight": "`@weight(2)`: points; a part's add up to its `points` in the manifest. 0 is a bonus",
    "visibility": '`@visibility("hidden")`, `"after_due_date"` or `"after_published"`: on those in `hidden/` alone',
    "tags": "`@tags(...)`: as in gradescope-utils",
    "hide_errors": "`@hide_errors(text)`: students read this text and nothing else of a failure",
    "leaderboard": "`@leaderboard(name, order)`: the column that the fixture `set_leaderboard_value` fills",
}
MARKERS = {
    "read": '`@pytest.mark.read("handout 2.3")`: where a student reads about it',
    "extra_credit": "`@pytest.mark.extra_credit`: its points come on top of its part's",
    "timeout": "`@pytest.mark.timeout(20)`: CPU seconds of the student's process; 3 times that and 10 s of waiting",
    "parametrize": "`@pytest.mark.parametrize`: several items, one check; they share its weight and one worker",
}


def decorators_read() -> set[str]:
    """The decorators of gradescope-utils that collecting looks for."""
    read = re.findall(r'marked\("__(\w+?)__"\)', (CODE / "grading" / "checks.py").read_text(encoding="utf-8"))
    return {name.partition("_column")[0].partition("_sort")[0] for name in read}


def _marks() -> str:
    rows = [f"* {text}." for text in (*DECORATORS.values(), *MARKERS.values())]
    where = "From `gradescope_utils.autograder_utils.decorators`, and pytest's markers:"
    return "\n".join(["\n## Decorators and markers\n", where, "", *rows, ""])


def _limits() -> str:
    defaults = Limits()
    rows = (
        ("arguments of one request, and one reply", f"{values.MAX_FRAME // MIB} MB"),
        ("values in one request or reply, and how deep they are nested", f"{values.MAX_NODES:,}, {values.MAX_DEPTH}"),
        ("what may come back in one check", f"{workers.MOST_RETURNED // MIB} MB"),
        (
            "calls of callbacks in one check, and what they carry",
            f"{line.MOST_CALLBACKS:,}, {line.MOST_CALLED_BACK // MIB} MB",
        ),
        (
            "CPU time of a check, of importing a part",
            f"{defaults.cpu_seconds:g} s, {defaults.import_seconds:g} s (manifest)",
        ),
        ("memory beyond Python's and torch's", f"{defaults.memory_mb} MB (manifest)"),
        ("one whole submission", f"{defaults.total_seconds:g} s (manifest)"),
        ("checks in which a function may time out before it is not called again", f"{workers.MOST_TIMEOUTS}"),
        ("a file of handed-in weights", f"{weights.LARGEST // MIB} MB"),
    )
    return "\n".join(["\n## Limits\n", "| | |", "|---|---|", *(f"| {what} | {most} |" for what, most in rows), ""])


def _manifest() -> str:
    defined = schema_of_manifest()["$defs"]
    tables = (("Manifest", ""), ("Part", "[[part]]"), ("Limits", "[limits]"), ("Late", "[late]"))
    rows = [
        f"| {table and f'`{table}` '}`{key}` | {_words(of)} |"
        for name, table in tables
        for key, of in defined[name]["properties"].items()
        if not (name == "Manifest" and key in ("part", "limits", "late"))
    ]
    return "\n".join(["\n## The manifest, `assignment.toml`\n", "| | |", "|---|---|", *rows, ""])


def _words(of: dict[str, object]) -> str:
    text = next(_descriptions(of), "")
    default = of.get("default")
    return f"{text} Default: `{default}`." if default not in (None, "", [], {}, ()) else text


def _descriptions(of: object) -> Iterator[str]:
    if isinstance(of, dict):
        if isinstance(of.get("description"), str):
            yield str(of["description"]).replace("|", "\\|")
        for each in of.values():
            yield from _descriptions(each)
    elif isinstance(of, list):
        for each in of:
            yield from _descriptions(each)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} written.")
