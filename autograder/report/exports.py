"""Grades entered into a file of Canvas, Moodle or Gradescope: one column is filled, every other byte is kept.

1. Each row of the file is a person, each hand-in is looked for among them as in a roster.
2. The column of grades is the one that is named, else the only one, else the one with the assignment's title.
3. A cell is filled where there is one whole grade. It stays as it was where there is none, where the person is excused
   and where the platform has locked it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from autograder.errors import SoftmarkError
from autograder.intake.roster import people_of
from autograder.intake.sheet import Sheet, read_sheet
from autograder.report.gradebook import Row, matched, points_cell

Platform = Literal["canvas", "moodle", "gradescope"]
GRADE = {
    "moodle": ("grade", "bewertung", "note", "calificación", "valutazione", "cijfer"),
    "gradescope": ("total score",),
}
MAXIMUM = {
    "moodle": ("maximum grade", "beste bewertung", "höchste bewertung", "note maximale", "calificación máxima"),
    "gradescope": ("max points",),
}
LOCKED = ("grade can be changed", "bewertung kann geändert werden")
WHERE = {
    "canvas": "Grades > Export",
    "moodle": "View all submissions > Download grading worksheet",
    "gradescope": "Review Grades > Download Grades",
}
_DECIMALS = 2


class Filled(NamedTuple):
    """The file, filled: its bytes, how many cells were, the column's name, and what did not go in, in sentences."""

    content: bytes
    entered: int
    column: str
    left_over: list[str]


def fill(
    template: Path,
    rows: Sequence[Row],
    platform: Platform,
    titles: Sequence[str],
    column: str = "",
    scale: bool = False,
) -> Filled:
    """Enter grades into a downloaded file.

    Args:
        template: the file.
        rows: the grades.
        platform: where it comes from.
        titles: what the assignment is called.
        column: the heading of the column to fill; "" finds it.
        scale: points are converted to the maximum that the file states.

    Raises:
        SoftmarkError: it is no such file, its column cannot be told, or its maximum is another one.
    """
    sheet = read_sheet(template)
    people = people_of(sheet, template)
    place = _column(sheet, template, platform, titles, column)
    found = matched(rows, people)
    by_name = {row.submission: row for row in rows}
    left_over = [f"{name} is nobody's in {template.name}" for name in found.unmatched]
    cells: dict[tuple[int, int], str] = {}
    head = [title.strip().casefold() for title in sheet.rows[0]]
    comma = sheet.delimiter != "," and any(re.fullmatch(r"\d+,\d+", cell.strip()) for row in sheet.rows for cell in row)
    for number, names in found.of.items():
        person = people[number]
        line = sheet.rows[person.row]
        who = person.name or person.email or person.sid or person.id
        row = by_name[names[0]] if names else None
        if row is None or len(names) > 1:
            left_over.append(f"{who} has {len(names)} hand-ins: {', '.join(names)}")
        elif not row.total:
            left_over.append(f"{row.submission} has no grade ({row.status})")
        elif len(line) <= place:
            left_over.append(f"{who} has no cell in the column {sheet.rows[0][place]}")
        elif line[place].strip().upper() == "EX":
            left_over.append(f"{who} is excused (EX)")
        elif any(
            title in LOCKED and cell.strip().casefold() in ("no", "nein")
            for title, cell in zip(head, line, strict=False)
        ):
            left_over.append(f"the grade of {who} is locked")
        else:
            theirs = _maximum(sheet, person.row, place, platform)
            points = _points(row, theirs, template, scale=scale)
            cells[person.row, place] = points.replace(".", ",") if comma else points
    return Filled(sheet.filled(cells), len(cells), sheet.rows[0][place].strip(), left_over)


def _column(sheet: Sheet, template: Path, platform: Platform, titles: Sequence[str], wanted: str) -> int:
    head = [title.strip() for title in sheet.rows[0]]
    if wanted:
        places = [at for at, title in enumerate(head) if wanted in (title, re.sub(r" \(\d+\)$", "", title))]
    elif platform == "canvas":
        places = [at for at, title in enumerate(head) if re.search(r" \(\d+\)$", title)]
        named = [at for at in places if head[at].rpartition(" (")[0].casefold() in {t.casefold() for t in titles}]
        places = named or places
    else:
        places = [at for at, title in enumerate(head) if title.casefold() in GRADE[platform]]
    if len(places) != 1:
        shown = ", ".join(head[at] for at in places) or ", ".join(head[:12])
        what = "has several columns that could be meant" if places else "has no column of grades"
        raise SoftmarkError(
            f"{template} {what} ({shown}): name one with --column, or download it again ({WHERE[platform]})."
        )
    return places[0]


def _maximum(sheet: Sheet, row: int, column: int, platform: Platform) -> float | None:
    """The maximum that the file states for a cell; None where it states none."""
    rows = sheet.rows
    if platform == "canvas":
        stated = [line[column] for line in rows[1:4] if line[0].strip() == "Points Possible" and len(line) > column]
    else:
        titles = [title.strip().casefold() for title in rows[0]]
        stated = [cell for title, cell in zip(titles, rows[row], strict=False) if title in MAXIMUM[platform]]
    try:
        return float(stated[0].replace(",", ".")) if stated else None
    except ValueError:
        return None


def _points(row: Row, theirs: float | None, template: Path, *, scale: bool) -> str:
    ours = float(row.maximum)
    if theirs is None or abs(theirs - ours) < 1e-6:
        return row.total
    if scale:
        return points_cell(round(float(row.total) * theirs / ours, _DECIMALS))
    raise SoftmarkError(
        f"{template} is out of {theirs:g} points, and these grades are out of {ours:g}: change it there and download "
        "the file again, or convert with --scale."
    )
