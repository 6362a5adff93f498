"""Cells are parsed in a process that may die of them; what only IPython understands is taken out."""

from __future__ import annotations

import pytest

from autograder.intake import statements
from autograder.intake.statements import Statement, outlines


def texts(source: str) -> list[str]:
    """The statements of a cell that must be readable, `pass` in place of magics left out."""
    outline = outlines([source])[0]
    assert outline.fault == ""
    return [one.text for one in outline.statements if one.text != "pass"]


def only(source: str) -> Statement:
    (statement,) = outlines([source])[0].statements
    return statement


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "%timeit f(x)",
        "%load_ext autoreload\n%autoreload 2",
        "!pip install -q einops",
        "!echo \"it's",
        "!pip install a \\\n    b \\\n    c",
        "!!ls",
        "files = !ls *.txt",
        "best = %timeit -o f(x)",
        "f?",
        "torch.softmax??",
        "?f",
        "%%time",
        "%config InlineBackend.figure_format = 'retina'",
        "pip install einops",
        "cd data/",
        "%cd /content/drive/My Drive",
        "!nvidia-smi | grep 'MiB' && echo $HOME",
        "if COLAB:\n    !pip install x\n    %cd y",
        "for name in names:\n    %time f(name)",
    ],
)
def test_what_only_ipython_understands_goes_and_the_rest_stays(magic: str) -> None:
    taken = texts(f"x = 1\n{magic}\ndef f():\n    return '%d' \\\n        % x\n")
    assert (taken[0], taken[-1]) == ("x = 1", "def f():\n    return '%d' \\\n        % x")


def test_a_percent_sign_that_begins_a_line_of_python_stays() -> None:
    source = 'x = ("%s"\n     % 3)\n%time y = 1\ntext = """\n%time z = 2\n!ls\n"""'
    assert texts(source) == ['x = ("%s"\n     % 3)', 'text = """\n%time z = 2\n!ls\n"""']


@pytest.mark.parametrize(
    "magic", ["%%time", "%%capture out", "\n\n%%timeit -n 3", "%%time\n%%capture", "%%writefile attention.py"]
)
def test_a_magic_over_a_cell_leaves_its_python(magic: str) -> None:
    assert texts(f"{magic}\ndef f():\n    return 1") == ["def f():\n    return 1"]


@pytest.mark.parametrize(
    "magic", ["%%bash", "%%html", "%%javascript", "%%writefile notes.txt", "%%!", "%%R -i x", "%%"]
)
def test_a_cell_of_another_language_is_lost(magic: str) -> None:
    outline = outlines([f"{magic}\nx = 1"])[0]
    assert (outline.statements, outline.fault) == ((), f"is not Python of this notebook ({magic.split()[0]})")


def test_a_cell_that_is_indented_as_a_whole_is_read() -> None:
    assert texts("    # mine\n    def f():\n        return 1\n    x = 2\n") == ["def f():\n    return 1", "x = 2"]


def test_a_cell_that_is_not_python_is_lost_alone() -> None:
    first, lost, last = outlines(["x = 1", "def f(:\n  pass", "y = 2"])
    assert ([one.text for one in first.statements], [one.text for one in last.statements]) == (["x = 1"], ["y = 2"])
    assert lost.statements == ()
    assert lost.fault.startswith("is not Python (line 1: ")


CHOKING = {
    "parentheses": "(" * 100_000,
    "signs": "-" * 300_000 + "1",
    "attributes": "a" + ".b" * 300_000,
    "lambdas": "lambda: " * 50_000 + "1",
    "brackets": "[" * 150,
    "NUL": "x = \0",
    "a lone surrogate": "x = '\ud800'",
}


@pytest.mark.parametrize("source", CHOKING.values(), ids=CHOKING.keys())
def test_what_a_parser_chokes_on_is_lost_alone(source: str) -> None:
    first, choked, last = outlines(["x = 1", source, "y = 2"])
    assert (len(first.statements), choked.statements, len(last.statements)) == (1, (), 1)
    assert choked.fault


def test_a_source_that_kills_the_parser_is_named_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    killing = statements.START.replace(
        "main()",
        "exec('import json, os, sys\\n"
        "class Sources(list): pass\\n"
        "real = json.loads\\n"
        'def loads(text):\\n for one in real(text):\\n  if one == "die": os.abort()\\n  yield one\\n'
        "json.loads = loads'); main()",
    )
    monkeypatch.setattr(statements, "START", killing)
    first, died, last = outlines(["x = 1", "die", "y = 2"])
    assert (len(first.statements), len(last.statements)) == (1, 1)
    assert died.fault == "could not be parsed within the limits of time and memory"


def test_after_three_deaths_the_rest_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "START", "import os, sys; os.abort() if sys.stdin.read() != '[]' else None")
    assert {one.fault for one in outlines(["x"] * 5)} == {
        "could not be parsed within the limits of time and memory",
        "was not read, since there is too much before it",
    }


def test_what_stands_behind_megabytes_of_source_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "LARGEST_INPUT", 10)
    assert [one.fault for one in outlines(["x = 1", "y = 2", "z = 3"])] == [
        "",
        "",
        "was not read, since there is too much before it",
    ]


def test_nothing_is_run_by_parsing(tmp_path: object) -> None:
    mark = f"{tmp_path}/ran"
    outlines([f"open({mark!r}, 'w')", f"class A:\n    open({mark!r}, 'w')", f"def f(x=open({mark!r}, 'w')): pass"])
    with pytest.raises(FileNotFoundError):
        open(mark).close()


def test_a_statement_says_what_it_binds_and_reads() -> None:
    one = only("@decorate\ndef f(x, y=DEFAULT):\n    def g():\n        return x + SCALE\n    return g() * len(y)\n")
    assert (one.kind, one.binds, one.reads) == ("definition", ("f",), ("DEFAULT", "SCALE", "decorate", "len"))
    assert one.text.startswith("@decorate\n")


def test_each_imported_name_is_a_statement_of_its_own() -> None:
    found = outlines(["import torch.nn as nn, math\nfrom .a import b as c, d\nfrom e import *"])[0].statements
    assert [(one.text, one.binds, one.module, one.star) for one in found] == [
        ("import torch.nn as nn", ("nn",), "torch.nn", False),
        ("import math", ("math",), "math", False),
        ("from .a import b as c", ("c",), ".a", False),
        ("from .a import d", ("d",), ".a", False),
        ("from e import *", (), "e", True),
    ]


def test_statements_in_one_line_are_told_apart() -> None:
    assert texts("é = 'ü'; y = [1,\n 2]; z = é") == ["é = 'ü'", "y = [1,\n 2]", "z = é"]


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("d[k] = v", ("d",)),
        ("A.forward = f", ("A",)),
        ("A.b[0].c = f", ("A",)),
        ("x += 1", ("x",)),
        ("names.append(1)", ("names",)),
        ("setattr(A, 'f', f)", ("A",)),
        ("for k in ks:\n    d[k] = 1", ("d",)),
        ("def f():\n    d[k] = v", ()),
        ("x = 1", ()),
    ],
)
def test_a_statement_says_what_it_changes(source: str, changes: tuple[str, ...]) -> None:
    assert only(source).changes == changes


@pytest.mark.parametrize(
    ("source", "eligible"),
    [
        ("x = f(3)", True),
        ("x: int = 3", True),
        ("try:\n    import a\nexcept ImportError:\n    a = None", True),
        ("if ok:\n    print('GPU')\n    d = 1\nelse:\n    d = 2", True),
        ("with no_grad():\n    w = 1", True),
        ("for i in range(3):\n    d[i] = i", True),
        ("for b in loader:\n    loss.backward()", False),
        ("while True:\n    x = 1", False),
        ("if __name__ == '__main__':\n    x = 1", False),
        ("model.train()", False),
        ("print(x)", False),
        ("x = input()", False),
        ("x = await f()", False),
        ("exit()", False),
        ("return 3", False),
    ],
)
def test_what_would_have_to_be_run_is_not_eligible(source: str, eligible: bool) -> None:
    assert only(source).eligible == eligible


@pytest.mark.parametrize(
    ("source", "stub"),
    [
        ("def f(x):\n    raise NotImplementedError", True),
        ('def f(x):\n    """Doc."""\n    n = len(x)\n    raise NotImplementedError("later")', True),
        ("def f(x):\n    ...", True),
        ("def f(x):\n    pass", True),
        ("def f(x):\n    return 1", False),
        ("def f(x):\n    if x: return 1\n    raise NotImplementedError", False),
        ("class A:\n    def __init__(self): self.x = 1\n    def f(self): raise NotImplementedError", True),
        ("class A:\n    def f(self): raise NotImplementedError\n    def g(self): return 1", False),
        ("class A: pass", False),
    ],
)
def test_a_stub_is_told_from_work(source: str, stub: bool) -> None:
    assert only(source).stub == stub
