"""`softmark report` and `softmark feedback`: a class on one page, and the files that are handed out."""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from autograder.errors import SoftmarkError
from autograder.grading.record import write_atomically
from autograder.intake.downloads import CANVAS
from autograder.intake.sheet import cell
from autograder.report.class_page import Class, class_page, staff_block
from autograder.report.feedback import feedback_page
from autograder.report.gradebook import row_of
from autograder.results import Grade, Submitter
from autograder.run.books import described_attempts, grades_in
from autograder.run.written import latest_run
from autograder.text import visible


def report_command(out: Path, anonymous: bool) -> int:
    """Write OUT/report.html, and beside it a page a submission for staff; with `anonymous` the one file alone."""
    found = Class()
    pages = out / "report"
    if not anonymous:
        pages.mkdir(mode=0o700, exist_ok=True)
    for grade in grades_in(out):
        found.add(grade)
        if not anonymous:
            block = staff_block(grade, [("attempt", line) for line in described_attempts(out, grade.submission)])
            page = feedback_page(grade, block=block)
            write_atomically(pages / f"{grade.submission}.html", page.encode(), durably=False)
    target = out / ("report-anonymous.html" if anonymous else "report.html")
    page = class_page(found, anonymous=anonymous, link=lambda name: f"report/{quote(name)}.html")
    write_atomically(target, page.encode())
    print(f"{target}: {len(found.members)} submission{'s' * (len(found.members) != 1)}.")
    return 0


def feedback_command(out: Path, form: str) -> int:
    """Write what students get: a file for each, or the zip that Moodle or Canvas takes back, and a list for mails.

    Raises `SoftmarkError` for an unknown format, and where the format needs names that the hand-ins do not have.
    """
    if form not in ("folder", "moodle", "canvas"):
        raise SoftmarkError(f"There is no format '{form}': give folder, moodle or canvas.")
    files: list[tuple[str, str]] = []
    mails = io.StringIO(newline="")
    writer = csv.writer(mails)
    writer.writerow(["name", "email", "sid", "submission", "total", "maximum", "file"])
    nobodys: list[str] = []
    begins = _canvas_names(out) if form == "canvas" else {}
    for grade in grades_in(out):
        row, page = row_of(grade), feedback_page(grade)
        names = [f"{grade.submission}.html"] if form == "folder" else list(_names(grade, begins))
        files += [(name, page) for name in names]
        nobodys += [grade.submission] * (not names)
        for who in grade.submitters or (Submitter(),):
            cells = (who.name, who.email, who.sid, grade.submission)
            writer.writerow([*(cell(visible(text)) for text in cells), row.total, row.maximum, *map(cell, names[:1])])
    if not files:
        raise SoftmarkError(f"{out} was not graded from a download of {form}: use --format folder.")
    if form == "folder":
        _write_folder(out / "feedback", [*files, ("mail.csv", f"\ufeff{mails.getvalue()}")])
        print(f"{out / 'feedback'}: {len(files)} page{'s' * (len(files) != 1)}, and mail.csv for a mail merge.")
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, page in files:
                archive.writestr(name, page)
        target = out / f"feedback-{form}.zip"
        write_atomically(target, buffer.getvalue())
        print(f"{target}: {len(files)} page{'s' * (len(files) != 1)}.")
    if nobodys:
        print(f"softmark: {form} does not know whose these are: {', '.join(nobodys)}.", file=sys.stderr)
    return 1 if nobodys else 0


def _write_folder(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    """These files and nothing of an earlier time."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, content in files:
        write_atomically(folder / name, content.encode(), durably=False)


def _names(grade: Grade, begins: Mapping[str, str]) -> Iterator[str]:
    """What a page is called in the zip that a platform takes back, for each person of a hand-in."""
    for who in grade.submitters:
        platform, _, number = who.id.partition(":")
        if platform == "moodle" and not begins:
            yield f"{who.name.replace('_', ' ') or 'Participant'}_{number}_assignsubmission_file_feedback.html"
        elif who.id in begins:
            yield f"{begins[who.id]}feedback.html"


def _canvas_names(out: Path) -> dict[str, str]:
    """How the name of each person's file begins in the download: Canvas finds the hand-in again by its two numbers."""
    run = latest_run(out)
    hand_ins = Path(run.hand_ins) if run is not None else out
    if not hand_ins.exists():
        raise SoftmarkError(
            f"{hand_ins}, which {out} was graded from, is not there any more: put it back, since Canvas finds a "
            "hand-in again by the name of its file."
        )
    matches = [match for name in _names_in(hand_ins) if (match := CANVAS.fullmatch(name)) and match["file_id"]]
    return {f"canvas:{match['id']}": match[0][: match.start("file")] for match in reversed(matches)} or {"": ""}


def _names_in(download: Path, folders: int = 3) -> list[str]:
    """The names of the files of a download, packed or not, and of one in a folder of its own."""
    if zipfile.is_zipfile(download):
        with zipfile.ZipFile(download) as archive:
            return [name.rpartition("/")[2] for name in archive.namelist()]
    inner = [path for path in sorted(download.iterdir()) if not path.name.startswith((".", "__MACOSX"))]
    if len(inner) == 1 and folders and (inner[0].is_dir() or zipfile.is_zipfile(inner[0])):
        return _names_in(inner[0], folders - 1)
    return [path.name for path in inner]
