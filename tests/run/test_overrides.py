"""What staff decided holds for the hand-in that they saw, is told to its student, and is never passed over."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.errors import SoftmarkError
from autograder.results import Grade, Key, Lateness, Override, Versions
from autograder.run import written
from autograder.run.overrides import OVERRIDES, append_line, hand_in_of, overridden, read_overrides
from tests.report.grades import check, grade, passed, ungraded


def key(hand_in: str) -> Key:
    return Key(submission=hand_in, assignment="a", grader="g", versions=Versions(softmark="1", torch="2", python="3"))


def over(of: Grade, number: str, points: float, why: str = "nearly right") -> Override:
    return Override(
        submission=of.submission, hand_in=hand_in_of(of), check=number, points=points, why=why, who="ta", when="t"
    )


HALF = Lateness(percent=50)
FIRST = grade(check("2.1"), passed("2.2"), key=key("one"), late=HALF, points=1.0)


def test_a_check_counts_before_lateness_and_a_total_after_it() -> None:
    by_check = overridden(FIRST, [over(FIRST, "2.1", 1.5)])
    assert (by_check.checks[0].score, by_check.parts[0].points, by_check.points) == (1.5, 3.5, 1.75)
    assert overridden(FIRST, [over(FIRST, "total", 3)]).points == 3


def test_the_last_line_holds_and_student_and_staff_are_told() -> None:
    told = overridden(FIRST, [over(FIRST, "2.1", 2, "typo"), over(FIRST, "2.1", 1, "seen again")])
    assert told.checks[0].score == 1
    assert told.notes == ("Check 2.1 was set to 1 points by the course staff: seen again",)
    assert told.staff == ("override: Check 2.1 was set to 1 points, by ta on t: seen again",)


def test_of_another_hand_in_it_is_open_and_not_applied() -> None:
    again = msgspec.structs.replace(FIRST, key=key("two"))
    told = overridden(again, [over(FIRST, "2.1", 2)])
    assert (told.points, told.notes) == (again.points, ())
    assert told.staff == ("override: Check 2.1 was set to 2 points, for another hand-in: it is open and not applied.",)


def test_what_nobody_could_read_is_graded_by_a_total() -> None:
    told = overridden(ungraded(), [over(ungraded(), "total", 7)])
    assert (told.status, told.points, told.reason) == ("graded", 7, "")
    other = ungraded("another reason")
    assert overridden(other, [over(ungraded(), "total", 7)]).points is None


def test_a_check_that_broke_is_whole_once_a_person_has_judged_it() -> None:
    broken = grade(check("2.1", outcome="broken"), status="incomplete", reason="check 2.1 broke", key=key("one"))
    told = overridden(broken, [over(broken, "2.1", 2)])
    assert (told.status, told.points) == ("graded", 2)


def test_records_stay_as_the_grader_wrote_them_and_results_have_the_override(tmp_path: Path) -> None:
    append_line(tmp_path / OVERRIDES, over(FIRST, "2.1", 2))
    written.write(tmp_path, FIRST)
    assert b'"score": 2.0' in (tmp_path / "student_03" / "results.json").read_bytes()
    assert b"course staff" not in (tmp_path / "student_03" / "grade.json").read_bytes()
    (told,) = written.recorded(tmp_path, FIRST.assignment, 22)
    assert told.points == 2


def test_a_line_that_was_cut_off_is_overwritten_and_a_damaged_one_stops(tmp_path: Path) -> None:
    append_line(tmp_path / OVERRIDES, over(FIRST, "2.1", 1))
    with open(tmp_path / OVERRIDES, "ab") as file:
        file.write(b'{"submission": "stu')
    assert len(read_overrides(tmp_path)) == 1
    append_line(tmp_path / OVERRIDES, over(FIRST, "2.1", 2))
    assert [each.points for each in read_overrides(tmp_path, "student_03")] == [1, 2]
    path = tmp_path / OVERRIDES
    path.write_bytes(b"?\n" + path.read_bytes())
    with pytest.raises(SoftmarkError, match="line 1, is damaged"):
        read_overrides(tmp_path)


def test_each_attempt_is_kept_and_the_same_one_once(tmp_path: Path) -> None:
    for one in (FIRST, FIRST, msgspec.structs.replace(FIRST, reason="again")):
        written.write(tmp_path, one)
    assert len(written.attempts(tmp_path, "student_03")) == 2


def test_a_check_that_ran_anew_takes_its_place_in_a_whole_grade() -> None:
    look = grade(passed("2.1"), status="incomplete", key=key("one"), late=HALF)
    spliced = written.spliced(FIRST, look)
    assert spliced is not None
    assert ([each.score for each in spliced.checks], spliced.points, spliced.status) == ([2, 2], 2, "graded")
    assert written.spliced(FIRST, msgspec.structs.replace(look, key=key("two"))) is None
    assert written.spliced(FIRST, grade(check("2.1", outcome="broken"), key=key("one"))) is None
