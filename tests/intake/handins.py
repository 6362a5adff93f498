"""Things that students hand in, built by the tests: an assignment of two parts, folders, notebooks and zips."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from autograder.assignment.assignment import Assignment, Limits, Part
from autograder.intake.submission import SourceTree, Submission, read_submission

ATTENTION = Part(
    name="attention",
    number=2,
    title="Attention",
    points=10,
    functions=("softmax", "attend", "Heads"),
    bonus=("Heads.step",),
)
TOKENS = Part(name="tokens", number=1, title="Tokens", points=5, functions=("encode", "decode"))

SOFTMAX = "def softmax(x, dim):\n    return ('softmax', x, dim)\n"
ATTEND = "def attend(x):\n    return softmax(x, -1)\n"
STUB = "def softmax(x, dim):\n    raise NotImplementedError\n\ndef attend(x):\n    raise NotImplementedError\n"


def assignment(folder: Path, *parts: Part) -> Assignment:
    """An assignment of those parts (attention alone, unless said otherwise) whose folder need not exist."""
    return Assignment(
        name="08",
        title="T",
        folder=folder / "assignments" / "08",
        key=b"k",
        parts=parts or (ATTENTION,),
        limits=Limits(),
        libraries=("einops",),
    )


def read(path: Path, *parts: Part) -> SourceTree:
    """Read what was handed in at that path for an assignment of those parts."""
    return read_submission(Submission(name=path.stem, path=path), assignment(path.parent, *parts))


def hand_in(folder: Path, files: dict[str, str | bytes], name: str = "student_01") -> Path:
    """A folder with those files."""
    home = folder / name
    home.mkdir()
    for file, content in files.items():
        path = home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return home


def code(source: Any, **fields: Any) -> dict[str, Any]:
    """A code cell of format 4."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source, **fields}


def markdown(source: str) -> dict[str, Any]:
    """A Markdown cell."""
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells: Any, **fields: Any) -> bytes:
    """A notebook of format 4; a string is a code cell."""
    made = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    document = {"cells": made, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({**document, **fields}, indent=1).encode()


def zipped(files: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with those files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def loaded(tree: SourceTree, file: str = "attention.py") -> dict[str, Any]:
    """The names of a module of a tree, run. All sources here are our own."""
    names: dict[str, Any] = {"__name__": file.removesuffix(".py")}
    exec(compile(tree.files[file], file, "exec", dont_inherit=True), names)
    return names
