"""What an instructor is told before the upload: a total that students will not see."""

from __future__ import annotations

import pytest

from autograder.gradescope.visibility import note_on_totals
from autograder.grading.checks import Check


def check(number: str, visibility: str) -> Check:
    return Check(
        number=number,
        name=f"test_{number}",
        part="part",
        title="",
        weight=1.0,
        hidden=visibility != "visible",
        visibility=visibility,  # pyright: ignore[reportArgumentType]
        seconds=1.0,
        partial=False,
    )


def test_where_all_are_visible_nothing_is_said():
    assert note_on_totals([check("1", "visible")]) == ""


@pytest.mark.parametrize(
    ("visibilities", "until"),
    [
        (["visible", "hidden"], "at any time"),
        (["after_due_date", "after_published"], "before grades are published"),
        (["visible", "after_due_date"], "before the due date"),
        (["hidden", "after_due_date"], "at any time"),
    ],
)
def test_the_strictest_says_until_when(visibilities, until):
    said = note_on_totals([check(f"1.{at}", visibility) for at, visibility in enumerate(visibilities)])
    assert f"no total score {until}" in said


def test_many_are_named_in_short():
    said = note_on_totals([check(f"1.{at}", "hidden") for at in range(9)])
    assert "9 checks are" in said and said.endswith("(1.0, 1.1, 1.2, ...).")
