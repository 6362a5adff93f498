"""`softmark show`: one recorded grade, as the student sees it and as staff does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
from rich.console import Console

from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.report.console import print_staff_view, print_student_view
from autograder.results import Grade
from autograder.run.books import described_attempts
from autograder.run.written import as_told


def show_grade(out: Path, submission: str, as_json: bool) -> int:
    """Print one recorded grade as the student sees it, and what staff sees besides."""
    grade = as_told(out, read_grade(out, submission))
    if as_json:
        sys.stdout.write(msgspec.json.encode(grade).decode() + "\n")
        return 0
    print_student_view(grade, Console())
    print_staff_view(grade, Console(), [("attempt", line) for line in described_attempts(out, submission)])
    return 0


def read_grade(out: Path, submission: str) -> Grade:
    """The record of a submission. Raises `SoftmarkError` where there is none, or none that can be read."""
    grade = record.read(out, submission)
    path = record.folder_of(out, submission) / "grade.json"
    if grade is None and os.path.lexists(path):
        raise SoftmarkError(
            f"{path} is damaged: no grade can be read from it. Grade this submission again.", exit_code=1
        )
    if grade is None:
        there = sorted(path.parent.name for path in out.glob("*/grade.json"))
        known = f" (there are: {', '.join(there[:8])}{', ...' if len(there) > 8 else ''})" if there else ""
        raise SoftmarkError(f"{out} holds no grade of '{submission}'{known}.")
    return grade
