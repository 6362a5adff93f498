"""What the platform shows and hides because of hidden checks: said to the instructor before the upload."""

from __future__ import annotations

from collections.abc import Iterable

from autograder.grading.checks import Check


def note_on_totals(checks: Iterable[Check]) -> str:
    """One sentence where students will not see their total score on the platform, and until when; else "".

    The platform shows no total while any test of a submission is hidden from the student.
    """
    hidden = [check for check in checks if check.visibility != "visible"]
    if not hidden:
        return ""
    never = [check for check in hidden if check.visibility == "hidden"]
    if never:
        until = "at any time"
    elif any(check.visibility == "after_published" for check in hidden):
        until = "before grades are published"
    else:
        until = "before the due date (the late one, where late work is allowed)"
    how_many = f"{len(hidden)} check{'s are' if len(hidden) > 1 else ' is'}"
    return (
        f"On Gradescope students see no total score {until}, since {how_many} not visible to them "
        f"({_some([check.number for check in (never or hidden)])})."
    )


def note_on_leaderboards(checks: Iterable[Check]) -> str:
    """One sentence where a hidden check fills a column that every student sees; else ""."""
    told = [check for check in checks if check.leaderboard is not None and check.visibility != "visible"]
    if not told:
        return ""
    columns = ", ".join(f"{check.leaderboard.name} (check {check.number})" for check in told if check.leaderboard)
    return f"All students see the leaderboard, so what hidden checks write there is no secret: {columns}."


def _some(numbers: list[str]) -> str:
    return ", ".join(numbers) if len(numbers) <= 4 else f"{', '.join(numbers[:3])}, ..."
