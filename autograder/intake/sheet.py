"""A table of comma-separated values of which single cells are changed and every other byte is kept.

It reads what platforms and spreadsheets write: a comma, semicolon or tab between cells (Excel may say which, in a first
line `sep=;`); UTF-8 with or without a mark, UTF-16, or Windows's Latin letters; any end of line.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from autograder.errors import SoftmarkError

FORMULAS = ("=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # wide ones are taken for narrow
_CELL = r'"(?:[^"]|"")*"[^{d}\r\n]*|[^{d}\r\n]*'
_LARGEST = 64 << 20
_UTF_16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_SAYS_DELIMITER = re.compile(r"\ufeff?\"?sep=(?P<delimiter>[,;\t])\"?[ ]*(\r\n|\n|\r)", re.IGNORECASE)


def cell(text: str) -> str:
    """Text as a cell that no spreadsheet reads as a formula, since students choose their names."""
    return f"'{text}" if text.lstrip("'").startswith(FORMULAS) else text


def uncell(text: str) -> str:
    """What `cell` was given."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULAS) else text


@dataclass(frozen=True)
class Sheet:
    """A table as it lies on disk: `spans` are where the cells of each row stand in `text`."""

    text: str
    encoding: str
    delimiter: str
    spans: tuple[tuple[tuple[int, int], ...], ...]

    @cached_property
    def rows(self) -> list[list[str]]:
        """The cells without their quotes."""
        return [[_unquoted(self.text[start:end]) for start, end in row] for row in self.spans]

    def filled(self, cells: Mapping[tuple[int, int], str]) -> bytes:
        """The file with some cells changed, by row and column; a quoted cell stays quoted."""
        pieces: list[str] = []
        at = 0
        for (row, column), value in sorted(cells.items()):
            start, end = self.spans[row][column]
            is_quoted = self.text[start:end].startswith('"') or any(
                c in value for c in (self.delimiter, '"', "\n", "\r")
            )
            pieces += [self.text[at:start], '"' + value.replace('"', '""') + '"' if is_quoted else value]
            at = end
        return ("".join(pieces) + self.text[at:]).encode(self.encoding)


def read_sheet(path: Path) -> Sheet:
    """Read a table. Raises `SoftmarkError` for a file that is none (a spreadsheet's own format, an empty file)."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read ({error.strerror}): give a CSV file.") from error
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise SoftmarkError(f"{path} is a spreadsheet's own format: save it as CSV (UTF-8) and give that file.")
    if not data.strip() or len(data) > _LARGEST or (b"\0" in data and data[:2] not in _UTF_16):
        raise SoftmarkError(f"{path} is not a table of comma-separated values: give the CSV file that you downloaded.")
    return sheet_of(data)


def sheet_of(data: bytes) -> Sheet:
    """The table that these bytes are."""
    for encoding in (_UTF_16.get(data[:2], "utf-8"), "cp1252", "latin-1"):  # a mark stays in the text
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise AssertionError("every byte is a letter of latin-1")
    said = _SAYS_DELIMITER.match(text)
    head = text[:5000]
    delimiter = said["delimiter"] if said else max((",", ";", "\t"), key=lambda each: _columns(head, each))
    return Sheet(text, encoding, delimiter, tuple(_spans(text, delimiter, said.end() if said else 0)))


def _columns(head: str, delimiter: str) -> int:
    return len(next(csv.reader(io.StringIO(head.removeprefix("\ufeff")), delimiter=delimiter), list[str]()))


def _spans(text: str, delimiter: str, at: int = 0) -> list[tuple[tuple[int, int], ...]]:
    pattern = re.compile(_CELL.format(d=re.escape(delimiter)))
    rows: list[tuple[tuple[int, int], ...]] = []
    row: list[tuple[int, int]] = []
    at = at or int(text.startswith("\ufeff"))
    while at < len(text) or row:
        match = pattern.match(text, at)
        assert match is not None  # the second half matches nothing at all, too
        row.append(match.span())
        at = match.end()
        if text[at : at + 1] == delimiter:
            at += 1
            continue
        rows.append(tuple(row))
        row = []
        at += 2 if text[at : at + 2] == "\r\n" else 1
    return rows


def _unquoted(cell: str) -> str:
    if not cell.startswith('"'):
        return cell
    body, _, rest = cell[1:].rpartition('"')
    return body.replace('""', '"') + rest
