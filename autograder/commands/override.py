"""`softmark override`: points that a person gives, for one check or as the total, with the reason."""

from __future__ import annotations

import math
from pathlib import Path

from autograder.commands.show import read_grade
from autograder.errors import SoftmarkError
from autograder.report.table import points_text
from autograder.results import Grade, Override
from autograder.run import written
from autograder.run.books import write_books
from autograder.run.overrides import OVERRIDES, TOTAL, append_line, hand_in_of, who_am_i


def override_command(out: Path, submission: str, check: str, points: float, why: str) -> int:
    """Note the override, and make everything anew that is made from the grade.

    Raises:
        SoftmarkError: no such grade or check, points that the check cannot give, or no reason.
    """
    grade = read_grade(out, submission)
    most = _most(grade, check)
    if not math.isfinite(points) or not 0 <= points <= most:
        raise SoftmarkError(f"{points:g} points are not between 0 and {most:g}, which {check} can give: give others.")
    if not why.strip():
        raise SoftmarkError("An override needs a reason, which the student reads: --why 'graded by hand'.")
    one = Override(
        submission=submission,
        hand_in=hand_in_of(grade),
        check=check,
        points=points,
        why=why.strip(),
        who=who_am_i(),
        when=written.now(),
        person="; ".join(each.name or each.sid or each.email or each.id for each in grade.submitters),
    )
    before = written.as_told(out, grade)
    append_line(out / OVERRIDES, one)
    written.renew(out, grade)
    write_books(out, grade.assignment, grade.maximum)
    after = written.as_told(out, grade)
    print(f"{submission}: {points_text(before.points)} -> {points_text(after.points)} of {points_text(grade.maximum)}.")
    return 0


def _most(grade: Grade, check: str) -> float:
    if check == TOTAL:
        return grade.maximum
    found = next((each for each in grade.checks if each.number == check), None)
    if found is None:
        there = ", ".join(each.number for each in grade.checks) or "none, since nobody could read the hand-in"
        raise SoftmarkError(f"{grade.submission} has no check '{check}' (there are: {there}): give one, or total.")
    return found.weight
