"""What a hand-in holds, and what is said of it before it is handed in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder.assignment.assignment import Assignment
from autograder.intake.beforehand import chosen, warnings, warnings_on_code
from tests.intake.handins import ATTEND, ATTENTION, SOFTMAX, STUB, TOKENS, assignment, code, hand_in, notebook

HEADS = "class Heads:\n    pass\n"
WHOLE = SOFTMAX + ATTEND + HEADS


def about(source: str, **fields: Any) -> list[str]:
    """What is said of an attention.py with all its functions and this before them."""
    known = msgspec.structs.replace(assignment(Path("/nowhere")), **fields)
    return list(warnings_on_code({"attention.py": (source + WHOLE).encode()}, known))


def said(folder: Path, known: Assignment) -> list[str]:
    return list(warnings(folder, chosen(folder, known), known))


def test_the_parts_their_helpers_and_what_the_manifest_names_go_in_and_nothing_else(tmp_path: Path) -> None:
    files = {
        "attention.py": "import maths\n" + WHOLE,
        "maths.py": "from deeper import x\n",
        "deeper.py": "x = 1\n",
        "scratch.py": "",
        "order_a.safetensors": "w",
        "diary.txt": "",
        "set_up.py": "",
        "notes.ipynb": notebook(code("print(1)")),
    }
    known = msgspec.structs.replace(assignment(tmp_path), hand_in=("order_*.safetensors",))
    assert set(chosen(hand_in(tmp_path, files), known)) == {
        "attention.py",
        "maths.py",
        "deeper.py",
        "order_a.safetensors",
    }


def test_a_notebook_with_a_function_of_a_part_goes_in(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, {"work.ipynb": notebook(code(SOFTMAX)), "stub.ipynb": notebook(code(STUB))})
    assert set(chosen(folder, assignment(tmp_path))) == {"work.ipynb"}


def test_a_file_that_is_missing_is_named_with_the_one_that_looks_like_it(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, {"tokens.py": "def encode(): 1\n", "attention (1).py": WHOLE})
    assert said(folder, assignment(tmp_path, ATTENTION, TOKENS)) == [
        "attention.py is missing, and attention (1).py looks like it: rename it to attention.py."
    ]


def test_a_pointer_and_a_file_that_is_not_utf8_are_told(tmp_path: Path) -> None:
    files = {
        "attention.py": "# für\n".encode("latin-1") + WHOLE.encode(),
        "a.safetensors": b"version https://git-lfs.github.com/spec/v1\n",
    }
    known = msgspec.structs.replace(assignment(tmp_path), hand_in=("a.safetensors",))
    told = said(hand_in(tmp_path, files), known)
    assert told[0].startswith("attention.py is not UTF-8 (line 1)") and "git lfs pull" in told[1]


def test_a_cell_that_was_not_run_since_it_changed_is_told(tmp_path: Path) -> None:
    cells = [code(SOFTMAX, execution_count=3), code(ATTEND), code("print(1)")]
    folder = hand_in(tmp_path, {"work.ipynb": notebook(*cells)})
    assert said(folder, assignment(tmp_path)) == [
        "work.ipynb, cell 2, defines attend and has not been run: run all cells and save."
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import pandas\n", "line 1: the grader does not have pandas"),
        ("x = 1\nx.cuda()\n", "line 2: .cuda() needs a GPU"),
        ("device = 'mps'\n", "line 1: the grader has no device 'mps'"),
        ("n = input()\n", "line 1: input() waits"),
    ],
)
def test_what_the_grader_does_not_have_is_told_with_its_line(source: str, words: str) -> None:
    [told] = about(source)
    assert words in told


@pytest.mark.parametrize(
    "source",
    [
        "import torch, einops, math\n",
        "d = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
        "text = 'a cuda kernel'\n",
    ],
)
def test_what_is_no_fault_is_not_told(source: str) -> None:
    assert about(source) == []


NEWER = {
    "groups": ((3, 11), "try:\n    pass\nexcept* ValueError:\n    pass\n"),
    "parameters": ((3, 12), "def f[T](x: T) -> T: ...\n"),
    "quotes": ((3, 12), "x = {'a': 1}\ny = f'{x['a']}'\n"),
}


@pytest.mark.parametrize("kind", NEWER)
def test_syntax_that_the_graders_python_does_not_read_is_told(kind: str) -> None:
    since, source = NEWER[kind]
    told = about(source, python="3.10")
    if sys.version_info[:2] < since:
        assert told == []  # this Python does not read it either, and the visible checks say so
    else:
        assert len(told) == 1 and "Python 3.10, which grades, does not read this" in told[0]


def test_a_function_that_is_not_there_is_told_and_a_bonus_is_not() -> None:
    [told] = warnings_on_code({"attention.py": SOFTMAX.encode()}, assignment(Path("/nowhere")))
    assert told == "attention.py does not define Heads, attend."


def test_of_a_notebook_the_cell_is_named(tmp_path: Path) -> None:
    from autograder.intake.submission import Submission, read_submission

    known = assignment(tmp_path)
    cells = [code("import torch"), code("def softmax(x, dim):\n    return x.cuda()\n"), code(ATTEND + HEADS)]
    folder = hand_in(tmp_path, {"work.ipynb": notebook(*cells)})
    tree = read_submission(Submission(name="s", path=folder), known)
    [told] = warnings_on_code(tree.files, known)
    assert told.startswith("'work.ipynb', cell 2: .cuda()")
