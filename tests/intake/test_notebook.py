"""Notebooks as they are really handed in: what can be made out is graded, and the rest gets a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import Unreadable
from autograder.intake import cells as notebook_module
from autograder.intake.cells import Cell, read_notebook
from tests.intake.handins import SOFTMAX, code, loaded, markdown, notebook, read

GOOD = notebook(SOFTMAX)
LINES = SOFTMAX.splitlines(keepends=True)
V3_CELL = {"cell_type": "code", "input": LINES, "language": "python", "outputs": [], "prompt_number": 3, "metadata": {}}
HEADING = {"cell_type": "heading", "level": 1, "source": ["Homework"], "metadata": {}}
NBGRADER = {"nbgrader": {"grade": True, "grade_id": "softmax", "locked": True, "points": -1, "schema_version": 99}}
IMAGE = {"output_type": "display_data", "data": {"image/png": "iVBOR" * 100_000}, "metadata": {}}
ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[0;31m---\x1b[0m def softmax(): wrong"]}


def version_3(cells: list[Any], **fields: Any) -> bytes:
    return json.dumps({"worksheets": [{"cells": cells}], "metadata": {"name": ""}, "nbformat": 3, **fields}).encode()


def with_document(change: dict[str, Any], *remove: str) -> bytes:
    document = {**json.loads(GOOD), **change}
    return json.dumps({key: value for key, value in document.items() if key not in remove}).encode()


def with_deep_metadata(depth: int) -> bytes:
    return GOOD.replace(b'"kernelspec": {', b'"deep": ' + b"[" * depth + b"]" * depth + b', "kernelspec": {', 1)


READ = {
    "nothing is wrong": GOOD,
    "source as a list of lines": notebook(code(LINES)),
    "source as a list of lines without their ends": notebook(code(SOFTMAX.splitlines())),
    "source as a list with something else in it": notebook(code([*LINES, None, 3])),
    "source missing in another cell": notebook({"cell_type": "code"}, SOFTMAX),
    "source null in another cell": notebook(code(None), SOFTMAX),
    "cells that are no objects": notebook(code("x = 1"), SOFTMAX, cells=[None, 3, "text", [], code(SOFTMAX)]),
    "cell type missing": notebook({"source": SOFTMAX}),
    "outputs and metadata missing": notebook({"cell_type": "code", "source": SOFTMAX}),
    "metadata missing everywhere": with_document({}, "metadata"),
    "format numbers missing": with_document({}, "nbformat", "nbformat_minor"),
    "format numbers as text": with_document({"nbformat": "4", "nbformat_minor": "5"}),
    "a format of the future": with_document({"nbformat": 5, "nbformat_minor": 0}),
    "an unknown minor version": with_document({"nbformat_minor": 99}),
    "cells under format 3": with_document({"nbformat": 3}),
    "format 3": version_3([HEADING, V3_CELL], nbformat_minor=0),
    "format 3 with fields missing": version_3([{"cell_type": "code", "input": SOFTMAX}]),
    "format 3 that nbformat does not convert": version_3([{"input": SOFTMAX}, {"cell_type": "code", "outputs": 3}]),
    "format 2": version_3([{"cell_type": "code", "input": SOFTMAX, "outputs": [], "language": "python"}], nbformat=2),
    "the wrapping of Jupyter's server": json.dumps({"type": "notebook", "content": json.loads(GOOD)}).encode(),
    "NaN and Infinity in an output": notebook(code(SOFTMAX, outputs=[{"data": {"x": [float("nan"), float("inf")]}}])),
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "CR LF everywhere": GOOD.replace(b"\n", b"\r\n"),
    "CR LF within the source": notebook(SOFTMAX.replace("\n", "\r\n")),
    "UTF-16": GOOD.decode().encode("utf-16"),
    "Latin-1 in a comment": GOOD.replace(b'"def softmax', b'"# Gr\xf6\xdfe\\ndef softmax'),
    "ids given twice": notebook(code("x = 1", id="a"), code(SOFTMAX, id="a"), markdown("text")),
    "ids in a format that has none": notebook(code(SOFTMAX, id="a"), nbformat_minor=2),
    "ids that are none": notebook(code(SOFTMAX, id=["?"])),
    "a megabyte of outputs": notebook(code(SOFTMAX, outputs=[IMAGE] * 2)),
    "outputs that hold a traceback of code": notebook(code(SOFTMAX, outputs=[ERROR])),
    "outputs that are none": notebook(code(SOFTMAX, outputs={"a": 1})),
    "broken metadata of nbgrader": notebook(code(SOFTMAX, metadata=NBGRADER)),
    "otter's raw cells": notebook(
        {"cell_type": "raw", "source": "# BEGIN QUESTION\nname: q1"}, SOFTMAX + "# END SOLUTION\n"
    ),
    "metadata nested deeply": with_deep_metadata(200),
    "white space and NULs after the end": GOOD + b"\n\n\0\0\0\0",
    "keys given twice": GOOD.replace(b'"metadata": {}', b'"metadata": 1, "metadata": {}'),
    "the tail of a longer, older file": GOOD + GOOD[-40:],
}


@pytest.mark.parametrize("data", READ.values(), ids=READ.keys())
def test_a_damaged_notebook_that_holds_the_work_is_graded_by_it(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "student_01.ipynb"
    path.write_bytes(data)
    assert loaded(read(path))["softmax"](1, 2) == ("softmax", 1, 2)


REFUSED = {
    "empty": (b"", "is an empty file: save the notebook"),
    "only white space": (b" \n", "is an empty file"),
    "only NULs after a crash of the disk": (b"\0" * 512, "is an empty file"),
    "cut off in a string": (GOOD[: GOOD.index(b"softmax") + 3], "was cut off after"),
    "cut off between cells": (GOOD[: GOOD.index(b'"metadata"')], "was cut off after"),
    "cut off after a comma": (GOOD[: GOOD.index(b'"metadata"')].rstrip(), "was cut off after"),
    "cut off with NULs": (GOOD[:100] + b"\0" * 100, "is damaged|was cut off"),
    "conflict": (GOOD.replace(b' "nbformat"', b"<<<<<<< HEAD\n=======\n>>>>>>> x\n"), "has marks of a merge conflict"),
    "a comma too many": (GOOD.replace(b" ]", b" ],,", 1), r"is damaged \(line \d+: "),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "is a Git LFS pointer"),
    "a log-in page": (b"\n<!DOCTYPE html>\n<html><body>Log in", "is a web page saved under a notebook's name"),
    "HTML made from the notebook": (b"<html><head>", "is a web page"),
    "a PDF": (b"%PDF-1.5\n%\xd0\xd4", "is a PDF under a notebook's name"),
    "a zip": (b"PK\x03\x04" + b"\0" * 30, "is a zip under a notebook's name"),
    "Python": (SOFTMAX.encode(), r"is not a notebook \(it begins with 'def softmax"),
    "a list": (b"[1, 2]", "is not a notebook: save it from Jupyter"),
    "a string": (b'"text"', "is not a notebook"),
    "no cells": (notebook(), "has no cells: hand in the notebook that has your work"),
    "cells of another kind": (notebook(cells={"a": 1}), "has no cells"),
    "another JSON": (b'{"a": 1}', "has no cells"),
    "nested beyond reading": (b'{"a": ' + b"[" * 100_000, "is nested too deeply"),
    "a number beyond reading": (b'{"a": ' + b"9" * 10_000 + b"}", "is not a notebook"),
}


@pytest.mark.parametrize(("data", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_a_notebook_that_nobody_can_read_is_a_sentence_and_no_zero(tmp_path: Path, data: bytes, sentence: str) -> None:
    path = tmp_path / "student_01.ipynb"
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=sentence) as caught:
        read(path)
    assert path.name in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_cells_are_counted_over_all_kinds_from_one() -> None:
    assert read_notebook(notebook(markdown("a"), "x = 1"), "hw.ipynb").cells == (
        Cell(1, "markdown", "a"),
        Cell(2, "code", "x = 1"),
    )


def test_what_stands_after_the_end_is_spoken_of() -> None:
    assert read_notebook(GOOD + b"]}", "hw.ipynb").notes == (
        "hw.ipynb goes on after its end (2 characters more), which was passed over.",
    )


def test_a_notebook_with_endless_cells_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_module, "MOST_CELLS", 2)
    with pytest.raises(Unreadable, match="has more than 2 cells"):
        read_notebook(notebook("a", "b", "c"), "hw.ipynb")


def test_a_notebook_with_endless_code_is_a_sentence() -> None:
    with pytest.raises(Unreadable, match="and 4 MB of text"):
        read_notebook(notebook("x = 1\n" * 800_000), "hw.ipynb")


def test_a_notebook_with_millions_of_values_is_not_taken_into_memory() -> None:
    with pytest.raises(Unreadable, match="holds millions of values: clear its outputs"):
        read_notebook(GOOD[:-2] + b', "x": [' + b"[]," * 1_000_000 + b"[]]}", "hw.ipynb")
