"""`softmark export`: grades in a file for Canvas, Moodle, Gradescope or a spreadsheet."""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.assignment.assignment import load_assignment
from autograder.errors import SoftmarkError
from autograder.grading.record import write_atomically
from autograder.intake.roster import Person
from autograder.report.exports import WHERE, Platform, fill
from autograder.report.gradebook import Row, people_csv, row_of
from autograder.run.books import grades_in
from autograder.run.written import Run, latest_run


def export_command(
    out: Path, form: str, template: Path | None, target: Path | None, column: str = "", scale: bool = False
) -> int:
    """Write the file, say what did not go in, and return 1 where something did not.

    Raises:
        SoftmarkError: an unknown format, no template where one is needed, or one that does not fit.
    """
    rows, run = [row_of(grade) for grade in grades_in(out)], latest_run(out)
    target = target or out / f"export-{form}.csv"
    if form == "csv":
        people = run.people if run is not None else ()
        text = people_csv(rows, people or _of_rows(rows), listed=bool(people))
        write_atomically(target, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())  # as Excel reads it
        print(f"{target}: {len(text.splitlines()) - 1} rows.")
        return 0
    if form not in ("canvas", "moodle", "gradescope"):
        raise SoftmarkError(f"There is no format '{form}': give csv, {', '.join(WHERE)}.")
    platform: Platform = form
    if template is None:
        raise SoftmarkError(f"Give the file to fill with --template: download it from {form} ({WHERE[platform]}).")
    filled = fill(template, rows, platform, _titles(rows, run), column, scale)
    write_atomically(target, filled.content)
    print(f"{target}: {filled.entered} grades in the column {filled.column}, of {len(rows)} submissions.")
    for sentence in filled.left_over:
        print(f"softmark: not entered: {sentence}.", file=sys.stderr)
    return 1 if filled.left_over else 0


def _of_rows(rows: list[Row]) -> tuple[Person, ...]:
    """Everybody whom a hand-in names, once."""
    people = {each: None for row in rows for each in row.submitters}
    return tuple(Person(name=each.name, sid=each.sid, email=each.email, id=each.id) for each in people)


def _titles(rows: list[Row], run: Run | None) -> list[str]:
    """What the assignment may be called elsewhere."""
    if run is None:
        return []
    try:
        return [run.assignment, load_assignment(Path(run.folder)).title]
    except SoftmarkError:  # it has gone from there
        return [run.assignment]
