"""What results.json says where there is no grade: before grading, and when it could not be done.

Each is a valid file with 0 points, a sentence to the student that says that this is no grade, and the detail to staff.
`runtime/run_autograder` holds one more, for the case that not even this can be imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.report.gradescope_schema import Results
from autograder.text import shown

_STAFF_CHARACTERS = 8_000
_NO_GRADE = "so the 0 shown here is not a grade. Your files are kept as you handed them in"


def unfinished(run: Mapping[str, Any]) -> Results:
    """Written first. It is read only where the whole container was ended, by its memory limit above all."""
    return _without_grade(
        f"Grading did not finish, {_NO_GRADE}. Most often the machine ran out of memory. Hand in again or ask your "
        "course staff, who can run the grading again.",
        "ungraded",
        ["The container was ended before grading had finished: by its memory limit, or from outside."],
        run,
    )


def failed(details: Sequence[str], run: Mapping[str, Any]) -> Results:
    """Grading could not be done, for a reason that is not the student's; `details` are for staff."""
    return _without_grade(
        f"Your submission could not be graded, because something failed on our side, {_NO_GRADE}. Your course staff "
        "can see why, and can run the grading again.",
        "ungraded",
        details,
        run,
    )


def _without_grade(sentence: str, status: str, details: Sequence[str], run: Mapping[str, Any]) -> Results:
    staff = [shown(line, _STAFF_CHARACTERS) for line in details[:10] if line]
    return Results(
        score=0.0,
        execution_time=0.0,
        output=sentence,
        tests=(),
        extra_data={"status": status, "staff": staff, "run": dict(run)},
    )
