"""The three moments: always in order, always before the platform's limit."""

from __future__ import annotations

import pytest

from autograder.gradescope.deadline import deadline, grading_seconds, platform_seconds


@pytest.mark.parametrize("seconds", [30, 60, 600, 2400, 86_400])
def test_grading_ends_before_the_grader_is_stopped_and_that_before_the_limit(seconds):
    times = deadline(1000.0, seconds)
    assert 1000.0 < times.until < times.stop < times.limit == 1000.0 + seconds
    assert times.until - 1000.0 >= 0.7 * seconds


def test_of_ten_minutes_nine_are_for_grading():
    assert grading_seconds(600) == 540


@pytest.mark.parametrize(
    ("said", "seconds"),
    [(None, 600), ("1200", 1200), ("", 600), ("ten", 600), ("nan", 600), ("inf", 600), ("1", 30), ("1e9", 86_400)],
)
def test_the_limit_is_a_variable_that_is_not_believed_blindly(said, seconds):
    assert platform_seconds({} if said is None else {"SOFTMARK_TIME_LIMIT": said}) == seconds
