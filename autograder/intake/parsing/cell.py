"""A notebook cell -> a Python syntax tree, what only IPython understands being taken out.

A magic (`%time f(x)`), a shell command (`!pip install x`) or a question (`f?`) becomes `pass`; `%%time` over a cell is
dropped and its body kept; a cell in another language is lost. It never guesses what a magic would have done.
"""

from __future__ import annotations

import ast
import re

FOREIGN_MAGICS = frozenset(
    {
        "bash",
        "sh",
        "script",
        "html",
        "HTML",
        "javascript",
        "js",
        "latex",
        "markdown",
        "svg",
        "SVG",
        "perl",
        "ruby",
        "R",
        "cython",
        "cmd",
        "system",
        "sx",
        "sql",
        "bigquery",
        "python",
        "python2",
        "python3",
        "pypy",
        "file",
        "writefile",
    }
)
"""`%%magics` whose cell is not Python of this notebook. `%%writefile x.py` is the exception: its body is source."""
LINE_MAGIC = re.compile(
    r"\s*(?:%{1,2}\w|!|\?)"  # %time f(x), !ls, ?f
    r"|\s*[\w.*]+\?{1,2}\s*;?\s*$"  # f?, f??
    r"|\s*[\w.,\[\] ]+=\s*(?:!|%\w)"  # files = !ls, t = %timeit -o f(x)
    r"|\s*(?:pip3?|conda|mamba|cd|ls|ll|pwd|cat|mkdir|rmdir|rm|cp|mv|man|less|more|clear|git|wget)(?:\s+[^\s=(].*)?$"
)
MOST_MAGICS = 300


class NotPython(Exception):
    """The cell is lost. Its text is a sentence's end: "is not Python (line 3: invalid syntax)"."""


def parse_cell(source: str) -> tuple[ast.Module, str]:
    """The tree of a cell, and the text that it is the tree of (same lines as the cell).

    Raises:
        NotPython: another language, or a syntax error that no magic explains.
    """
    text = _without_cell_magic(source.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff"))
    text = _without_common_indent(text)
    for _ in range(MOST_MAGICS):
        try:
            return ast.parse(text), text
        except SyntaxError as error:
            lines = text.split("\n")
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or not LINE_MAGIC.match(lines[at]):
                break
            text = _with_pass(lines, at)
        except (RecursionError, MemoryError):
            raise NotPython("is nested too deeply to be read") from None
        except ValueError as error:  # NUL bytes
            raise NotPython(f"is not Python ({error})") from None
    return _parse_without_any_magic(text)


def _parse_without_any_magic(text: str) -> tuple[ast.Module, str]:
    """The last try: every line that looks like a magic goes, wherever the parser saw the fault."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if LINE_MAGIC.match(line):
            lines = _with_pass(lines, at).split("\n")
    bare = "\n".join(lines)
    try:
        return ast.parse(bare), bare
    except SyntaxError as error:
        raise NotPython(f"is not Python (line {error.lineno}: {error.msg})") from None
    except (RecursionError, MemoryError, ValueError):
        raise NotPython("is nested too deeply to be read") from None


def _with_pass(lines: list[str], at: int) -> str:
    """The lines joined, the one at `at` and those it continues on by a backslash made into `pass` and nothing."""
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    end = at
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    return "\n".join([*lines[:at], f"{indent}pass", *[""] * (end - at), *lines[end + 1 :]])


def _without_cell_magic(text: str) -> str:
    """A first line `%%name` is dropped (several may stand over each other); its line stays, empty."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        words = line.strip().split()
        if not words:
            continue
        if not words[0].startswith("%%"):
            break
        magic = words[0][2:]
        writes_python = magic in ("writefile", "file") and words[-1].endswith(".py")
        if not writes_python and (magic in FOREIGN_MAGICS or not magic or not magic[0].isalpha()):
            raise NotPython(f"is not Python of this notebook ({words[0]})")
        lines[at] = ""
    return "\n".join(lines)


def _without_common_indent(text: str) -> str:
    """A cell that is indented as a whole runs in IPython: the first line's indent is taken from all."""
    lines = text.split("\n")
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return text
    return "\n".join(line[len(indent) :] if line.startswith(indent) else line.lstrip() for line in lines)
