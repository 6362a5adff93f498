"""Late work: what it costs follows from times alone, never below the floor, never less for being later."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.assignment.late import ExtraTime, Policy, applied, not_here, penalty, points_after, policy_of
from autograder.assignment.manifest import Late
from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.intake.submission import Submission
from autograder.report.gradescope_schema import read_results
from autograder.report.view import notes_for_students
from autograder.results import Lateness, Submitter
from autograder.run.pool import Job, grade_all
from tests.report.grades import check, grade, passed, ungraded
from tests.tiny import REFERENCE, tiny_assignment

DUE = "2026-10-31T23:59:00-07:00"
PACIFIC = "America/Los_Angeles"


def late(**fields: Any) -> Late:
    return Late(**{"penalty_percent": 10.0, **fields})


def percent(created_at: str, due: str = DUE, who: tuple[Submitter, ...] = (), extra=None, **fields: Any) -> float:
    return penalty(Policy(late(**fields), extra or {}), created_at, due, who).percent


# ------------------------------------------------------------------ when something begins


@pytest.mark.parametrize(
    ("created_at", "hours", "days"),
    [
        ("2026-10-31T23:58:59-07:00", 0, 0),
        (DUE, 0, 0),
        ("2026-11-01T06:59:00Z", 0, 0),
        ("2026-11-01 06:59:00.000000000 Z", 0, 0),
        ("2026-11-01T06:59:00.000001Z", 10, 10),
        ("2026-11-01T07:59:00Z", 10, 10),
        ("2026-11-01T07:59:01Z", 20, 10),
        ("2026-11-02T06:59:00Z", 100, 10),
        ("2026-11-02T06:59:01Z", 100, 20),
        ("2027-11-02T06:59:01Z", 100, 100),
    ],
)
def test_each_hour_or_day_that_has_begun_costs(created_at: str, hours: float, days: float) -> None:
    assert (percent(created_at, per="hour"), percent(created_at, per="day")) == (hours, days)


def test_hours_are_counted_from_the_due_date_that_held() -> None:
    policy = Policy(late(grace_minutes=15), {"student_03": ExtraTime(hours=2)})
    assert penalty(policy, "2026-11-01T08:29:00Z", DUE).hours == 1.5
    assert penalty(policy, "2026-11-01T07:05:00Z", DUE).hours == 0.1  # within the grace
    assert penalty(policy, "2026-10-31T07:05:00Z", DUE).hours == 0
    assert penalty(policy, "2026-11-01T08:58:30Z", DUE, (Submitter(email="student_03"),)).hours == 0.0
    assert penalty(policy, "yesterday", DUE).hours is None


def test_grace_costs_nothing_and_what_comes_after_is_counted_from_its_end() -> None:
    assert percent("2026-11-01T07:14:00Z", grace_minutes=15) == 0
    assert percent("2026-11-01T07:14:01Z", grace_minutes=15) == 10
    assert percent("2026-11-02T07:14:00Z", grace_minutes=15) == 10


def test_a_day_by_the_clock_of_a_zone_has_25_hours_where_the_clock_goes_back() -> None:
    day_later = "2026-11-01T23:59:00-08:00"  # the clock went back at 2:00, so 25 hours have passed
    assert percent(day_later, timezone=PACIFIC) == 10
    assert percent(day_later) == 20


def test_a_day_by_the_clock_of_a_zone_has_23_hours_where_the_clock_goes_forward() -> None:
    due, day_later = "2026-03-07T23:59:00-08:00", "2026-03-08T23:59:00-07:00"
    assert percent(day_later, due, timezone=PACIFIC) == 10
    assert percent("2026-03-08T23:59:01-07:00", due, timezone=PACIFIC) == 20
    assert percent("2026-03-08T23:59:01-07:00", due) == 10


@pytest.mark.parametrize("text", ["2026-10-31 23:59:00 -0700", "2026-11-01t06:59:00z", "2026-11-01 06:59:00 UTC"])
def test_the_platforms_ways_to_write_one_moment_are_one_moment(text: str) -> None:
    assert percent(text) == 0
    assert percent("2026-11-01T06:59:01Z", due=text) == 10


# ------------------------------------------------------------------ which due date


def test_the_platforms_due_date_goes_before_that_of_the_manifest() -> None:
    manifest = datetime(2026, 10, 30, tzinfo=timezone.utc)
    assert penalty(Policy(late(due=manifest)), "2026-10-31T20:00:00Z", DUE).percent == 0
    assert penalty(Policy(late(due=manifest)), "2026-10-31T20:00:00Z").percent == 20


def test_a_due_date_without_an_offset_is_read_by_the_clock_of_the_zone() -> None:
    policy = Policy(late(due=datetime(2026, 10, 31, 23, 59), timezone=PACIFIC))
    assert penalty(policy, "2026-11-01T06:59:00Z").percent == 0
    assert penalty(policy, "2026-11-01T06:59:01Z").percent == 10


def test_a_time_that_the_clock_shows_twice_is_the_one_that_is_better_for_the_student() -> None:
    policy = Policy(late(due=datetime(2026, 11, 1, 1, 30), timezone=PACIFIC, per="hour"))
    assert penalty(policy, "2026-11-01T01:30:00-08:00").percent == 0
    assert penalty(policy, "2026-11-01 01:40:00", "2026-11-01T01:35:00-07:00").percent == 10


@pytest.mark.parametrize(
    ("created_at", "due", "why"),
    [
        ("", DUE, "the time of the submission is not known"),
        ("yesterday", DUE, "the time of the submission is 'yesterday', not a date and time"),
        ("2026-13-01T00:00:00Z", DUE, "not a date and time"),
        ("9999-12-31T23:59:59Z", DUE, "is in the year 9999"),
        ("0001-01-01 00:00:00", DUE, "is in the year 1"),
        ("2026-11-01T00:00:00", DUE, "without an offset, and the manifest names no time zone"),
        ("2026-11-01T00:00:00Z", "", "the due date is not known"),
    ],
)
def test_what_cannot_be_told_costs_nothing_and_staff_reads_why(created_at: str, due: str, why: str) -> None:
    found = penalty(Policy(late()), created_at, due)
    assert (found.percent, found.sentence) == (0, "")
    assert why in found.staff


# ------------------------------------------------------------------ extra time


def test_of_a_group_the_member_with_the_most_time_counts_and_nobody_is_named() -> None:
    extra = {"student_03@example.edu": ExtraTime(days=2), "0123": ExtraTime(hours=1)}
    policy = Policy(late(timezone=PACIFIC), extra)
    alone = (Submitter(name="student_04", sid="0123"),)
    group = (*alone, Submitter(name="student_03", email=" Student_03@Example.edu"))
    handed_in = "2026-11-02T23:59:01-08:00"
    assert penalty(policy, handed_in, DUE, ()).percent == 30
    assert penalty(policy, handed_in, DUE, alone).percent == 20
    found = penalty(policy, handed_in, DUE, group)
    assert found.percent == 10
    assert "2026-11-02 23:59 PST" in found.sentence
    assert "student" not in found.sentence.casefold().replace("students", "")


def test_accommodations_stand_beside_the_hidden_checks_and_any_spelling_of_a_unit_is_read(tmp_path) -> None:
    assignment = tiny_assignment(tmp_path)
    assert policy_of(assignment) is None
    (assignment.hidden / "accommodations.toml").write_text(
        '"Student_03@example.edu" = "2 days"\n0123 = "1 day"\nx = "1.5 hours"\n'
    )
    assignment = with_late(assignment)
    policy = policy_of(assignment)
    assert policy is not None
    assert policy.extra == {
        "student_03@example.edu": ExtraTime(days=2),
        "0123": ExtraTime(days=1),
        "x": ExtraTime(hours=1.5),
    }


@pytest.mark.parametrize("value", ["2", '"two days"', '"1.5 days"', '"-1 days"', '"99999 days"', "{}"])
def test_extra_time_that_cannot_be_read_is_a_sentence_with_the_value(value: str, tmp_path) -> None:
    assignment = with_late(tiny_assignment(tmp_path))
    (assignment.hidden / "accommodations.toml").write_text(f"student_03 = {value}\n")
    with pytest.raises(SoftmarkError, match=r"accommodations.toml: the extra time of 'student_03' is .*; write"):
        policy_of(assignment)


def test_who_has_extra_time_and_handed_in_nothing_is_known_where_hand_ins_say_whose_they_are() -> None:
    policy = Policy(late(), {"student_03@example.edu": ExtraTime(days=1), "0612345": ExtraTime(days=1)})
    ours = grade(passed(), submitters=(Submitter(email="Student_03@example.edu"), Submitter(sid="0612346")))
    assert not_here(policy, ours.submitters) == ["0612345"]
    assert not_here(policy, []) == not_here(None, ours.submitters) == []


def with_late(assignment, **fields):
    return msgspec.structs.replace(assignment, late=late(**fields))


# ------------------------------------------------------------------ points


@pytest.mark.parametrize(
    ("fields", "points", "remain"),
    [
        ({"percent": 20.0}, 17.0, 13.6),
        ({"percent": 20.0, "of": "maximum"}, 17.0, 13.0),
        ({"percent": 90.0, "floor_percent": 50.0}, 17.0, 8.5),
        ({"percent": 90.0, "of": "maximum"}, 17.0, 0.0),
        ({"percent": 90.0, "of": "maximum", "floor_percent": 50.0}, 17.0, 8.5),
        ({"percent": 100 / 3}, 1.0, 0.666667),
    ],
)
def test_percents_are_of_the_points_earned_or_of_the_maximum(fields, points: float, remain: float) -> None:
    assert points_after(points, 20.0, Lateness(**fields)) == remain


def test_the_sentence_says_when_it_was_due_what_has_begun_and_what_it_costs() -> None:
    policy = Policy(late(timezone=PACIFIC, grace_minutes=15, floor_percent=50))
    assert penalty(policy, "2026-11-02T02:10:00-08:00", DUE).sentence == (
        "Handed in 1 day 3 hours after it was due (2026-10-31 23:59 PDT), 15 minutes of grace apart: 2 days have "
        "begun, each costs 10 %, so 20 % of the points earned are taken off; 50 % of the points earned remain in any "
        "case."
    )


def test_points_are_counted_from_the_parts_so_that_applying_twice_is_applying_once() -> None:
    before = grade(passed("2.1"), check("2.2"))
    once = applied(before, Policy(late()), "2026-11-01T12:00:00Z", DUE)
    assert (once.points, once.parts, once.checks) == (1.8, before.parts, before.checks)
    assert once.late is not None
    assert notes_for_students(once) == (once.late.sentence,)
    assert applied(once, Policy(late()), "2026-11-01T12:00:00Z", DUE) is once
    later = applied(once, Policy(late()), "2026-11-02T12:00:00Z", DUE)
    assert (later.points, len(notes_for_students(later))) == (1.6, 1)
    assert applied(later, None, "2026-11-02T12:00:00Z", DUE) == before


def test_without_a_policy_and_without_a_grade_nothing_changes() -> None:
    one, none = grade(passed()), ungraded()
    assert applied(one, None, "2026-11-02T12:00:00Z", DUE) is one
    assert applied(none, Policy(late()), "2026-11-02T12:00:00Z", DUE) is none


def test_a_run_over_an_export_takes_it_off_and_a_second_one_counts_anew_without_grading_again(
    tmp_path, session
) -> None:
    assignment = tiny_assignment(tmp_path)
    assignment = with_late(assignment, due=datetime(2026, 10, 31, tzinfo=timezone.utc))
    (tmp_path / "student_03").mkdir()
    (tmp_path / "student_03" / "numbers_part.py").write_text(REFERENCE)
    who = (Submitter(email="student_03@example.edu"),)
    submission = Submission(
        name="student_03", path=tmp_path / "student_03", submitters=who, created_at="2026-11-01 12:00:00.5 Z"
    )
    job = Job(assignment, [submission], tmp_path / "out")
    (first,) = grade_all(job, session, 1)
    assert (first.grade.points, first.grade.parts[0].points, first.resumed) == (1.6, 2.0, False)
    assert read_results((tmp_path / "out" / "student_03" / "results.json").read_bytes()).score == 1.6
    (assignment.hidden / "accommodations.toml").write_text('"student_03@example.edu" = "1 day"')
    (second,) = grade_all(job, session, 1)
    assert (second.grade.points, second.grade.wall_seconds) == (1.8, first.grade.wall_seconds)
    assert record.read(tmp_path / "out", "student_03") == second.grade
    (third,) = grade_all(job, session, 1)
    assert (third.grade, third.resumed) == (second.grade, True)


MOMENTS = st.datetimes(datetime(2026, 10, 25), datetime(2026, 11, 20), timezones=st.just(timezone.utc))
POLICIES = st.builds(
    Late,
    penalty_percent=st.floats(0, 100),
    per=st.sampled_from(["hour", "day"]),
    of=st.sampled_from(["points", "maximum"]),
    floor_percent=st.floats(0, 100),
    grace_minutes=st.floats(0, 10_000),
    timezone=st.sampled_from(["", PACIFIC, "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca"]),
)
EXTRA = st.builds(ExtraTime, days=st.integers(0, 20)) | st.builds(ExtraTime, hours=st.floats(0, 500))
POINTS = st.integers(0, 22_000_000).map(lambda millionths: millionths / 1e6)


@given(POLICIES, MOMENTS, MOMENTS, EXTRA, EXTRA, POINTS)
def test_points_stay_within_bounds_and_no_more_remain_for_being_later_or_for_less_time(
    policy: Late, one: datetime, other: datetime, extra: ExtraTime, more: ExtraTime, points: float
) -> None:
    due = "2026-10-31T23:59:00-07:00"
    who = (Submitter(sid="03"), Submitter(sid="04"))
    both = Policy(policy, {"03": extra, "04": more})

    def remain(given: Policy, moment: datetime, earned: float = points) -> float:
        return points_after(earned, 22.0, penalty(given, moment.isoformat(" ", "microseconds"), due, who))

    earlier, later = sorted((one, other))
    assert 0 <= remain(both, later) <= remain(both, earlier) <= points
    assert remain(both, later) >= points * policy.floor_percent / 100 - 1e-6
    assert remain(Policy(policy), later) <= remain(Policy(policy, {"03": extra}), later) <= remain(both, later)
    assert remain(both, later, points / 2) <= remain(both, later) + 1e-6


@given(POLICIES, MOMENTS)
def test_nothing_is_taken_off_before_the_due_date_and_something_is_from_the_first_moment_after(
    policy: Late, due: datetime
) -> None:
    free_until = due + timedelta(minutes=policy.grace_minutes)
    just, past = (each.isoformat() for each in (free_until, free_until + timedelta(microseconds=1)))
    assert penalty(Policy(policy), just, due.isoformat()).percent == 0
    assert penalty(Policy(policy), past, due.isoformat()).percent == min(100, policy.penalty_percent)


@given(MOMENTS, st.integers(1, 20))
def test_a_day_ends_when_the_clock_shows_the_same_time_again(due: datetime, days: int) -> None:
    local = due.astimezone(ZoneInfo(PACIFIC)).replace(tzinfo=None) + timedelta(days=days)
    end = max(local.replace(tzinfo=ZoneInfo(PACIFIC), fold=fold).astimezone(timezone.utc) for fold in (0, 1))
    policy = Policy(late(penalty_percent=1, timezone=PACIFIC))
    assert penalty(policy, end.isoformat(), due.isoformat()).percent == days
    assert penalty(policy, (end + timedelta(seconds=1)).isoformat(), due.isoformat()).percent == days + 1
