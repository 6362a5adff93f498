"""A notebook's bytes -> its cells, whatever was done to the file, or a sentence that says why there are none.

Only `cell_type` and `source` are looked at: outputs, metadata (nbgrader's and otter's too), ids and execution counts do
no harm. It does not look into the cells (`autograder.intake.assembly` does).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from autograder.errors import Unreadable
from autograder.intake.encoding import read_source

MOST_CELLS = 5000
LARGEST_CODE = 4 << 20
MOST_CONTAINERS = 1_000_000
MOST_VALUES = 5_000_000
"""Of lists and objects, and of all values in the file: each takes ten times its text in memory."""
CONFLICT = re.compile(r"^[ \t]*(?:<{7}|>{7}) ", re.MULTILINE)
NOT_NOTEBOOKS = (
    ("version https://git-lfs", "a Git LFS pointer, not the notebook itself: hand in the file that it points to"),
    ("<!doctype html", "a web page saved under a notebook's name: download the notebook itself (File, Download)"),
    ("<html", "a web page saved under a notebook's name: download the notebook itself (File, Download)"),
    ("%pdf", "a PDF under a notebook's name: hand in the notebook itself"),
    ("pk\x03\x04", "a zip under a notebook's name: hand it in as .zip"),
    ("{\\rtf", "a text document under a notebook's name: hand in the notebook itself"),
)


class Cell(NamedTuple):
    """`number` counts all cells from 1. `kind` is "code", "markdown", "raw" or whatever stood there."""

    number: int
    kind: str
    source: str


class Notebook(NamedTuple):
    """All cells in their order, and notes to the student on what was unusual about the file."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def read_notebook(data: bytes, shown: str) -> Notebook:
    """Read a notebook of any format version. `shown` names it in sentences.

    Raises:
        Unreadable: no notebook, cut off, in conflict with itself, or beyond the bounds.
    """
    if data.count(b"[") + data.count(b"{") > MOST_CONTAINERS or data.count(b",") > MOST_VALUES:
        raise Unreadable(f"{shown} holds millions of values: clear its outputs and save it again.")
    text, note = read_source(data, shown)
    notes = [note] if note else []
    document, rest = _json(text, shown)
    if rest:
        notes.append(f"{shown} goes on after its end ({len(rest):,} characters more), which was passed over.")
    cells = tuple(_cells(document))
    if not cells:
        raise Unreadable(f"{shown} has no cells: hand in the notebook that has your work in it.")
    if len(cells) > MOST_CELLS or sum(len(cell.source) for cell in cells) > LARGEST_CODE:
        limit = f"{MOST_CELLS:,} cells and {LARGEST_CODE >> 20} MB of text"
        raise Unreadable(f"{shown} has more than {limit}: hand in a notebook with your own code only.")
    return Notebook(cells, tuple(notes))


def _json(text: str, shown: str) -> tuple[dict[str, object], str]:
    """The JSON object that the text begins with, and what stands after it."""
    text = text.lstrip()
    if not text.strip("\0"):
        raise Unreadable(f"{shown} is an empty file: save the notebook and hand it in again.")
    for beginning, what in NOT_NOTEBOOKS:
        if text[: len(beginning)].lower() == beginning:
            raise Unreadable(f"{shown} is {what}.")
    try:
        document, end = json.JSONDecoder().raw_decode(text)
    except RecursionError:
        raise Unreadable(f"{shown} is nested too deeply to be a notebook: save it anew from Jupyter.") from None
    except json.JSONDecodeError as error:
        raise Unreadable(_what_is_wrong(text, error, shown)) from None
    except ValueError as error:  # a number with thousands of digits
        raise Unreadable(f"{shown} is not a notebook ({error}): save it anew from Jupyter.") from None
    if not isinstance(document, dict):
        raise Unreadable(f"{shown} is not a notebook: save it from Jupyter as .ipynb.")
    return cast("dict[str, object]", document), text[end:].strip("\0 \t\n")


def _what_is_wrong(text: str, error: json.JSONDecodeError, shown: str) -> str:
    if conflict := CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        return f"{shown} has marks of a merge conflict (line {line}): resolve it, open it in Jupyter and save it again."
    if not text.startswith("{"):
        return f"{shown} is not a notebook (it begins with {text[:20]!r}): save it from Jupyter as .ipynb."
    if error.pos >= len(text.rstrip("\0 \n\t")) - 1 or error.msg.startswith("Unterminated string"):
        return f"{shown} was cut off after {len(text):,} characters: save the notebook and hand it in again."
    return f"{shown} is damaged (line {error.lineno}: {error.msg}): open it in Jupyter and save it again."


def _cells(document: dict[str, object]) -> Iterator[Cell]:
    """The cells: of format 4 as they stand, older ones as nbformat converts them, else what can be made out."""
    found = _list(document.get("cells")) or _converted(document) or _cells_anywhere(document)
    for number, cell in enumerate(found, start=1):
        if isinstance(cell, dict):
            fields = cast("dict[str, object]", cell)
            kind = fields.get("cell_type", "code")
            source = _joined(fields.get("source", fields.get("input", "")))
            yield Cell(number, kind if isinstance(kind, str) else "code", source)


def _converted(document: dict[str, object]) -> list[object]:
    """Cells of a notebook in format 1, 2 or 3; none where nbformat gives up."""
    import nbformat  # slow to import, and few notebooks need it
    from nbformat import reader

    logger = logging.getLogger("traitlets")  # where nbformat says what it thinks invalid, which is no fault here
    before = logger.disabled
    logger.disabled = True
    try:
        return _list(nbformat.convert(reader.reads(json.dumps(document)), 4).get("cells"))
    except Exception:  # nbformat raises whatever a damaged file leads it to: KeyError, TypeError, AttributeError, ...
        return []
    finally:
        logger.disabled = before


def _cells_anywhere(document: dict[str, object]) -> list[object]:
    """Cells of a notebook that nbformat does not take: format 4 as a list, format 3 and older in worksheets."""
    for candidate in (document, document.get("content")):
        if not isinstance(candidate, dict):
            continue
        fields = cast("dict[str, object]", candidate)
        found = _list(fields.get("cells"))
        for sheet in _list(fields.get("worksheets")):
            if isinstance(sheet, dict):
                found += _list(cast("dict[str, object]", sheet).get("cells"))
        if found:
            return found
    return []


def _list(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list) else []


def _joined(source: object) -> str:
    """A cell's source: a string, or a list of lines, from which some programs leave out the line ends."""
    if isinstance(source, str):
        return source
    lines = [line for line in _list(source) if isinstance(line, str)]
    ended = any(line.endswith(("\n", "\r")) for line in lines)
    return ("" if ended else "\n").join(lines)
