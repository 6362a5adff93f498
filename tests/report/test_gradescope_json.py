"""results.json: every field right, nothing leaked, nothing forged, nothing too long."""

import json
from typing import Any

import msgspec
import pytest

from autograder.report.gradescope_json import to_results, to_results_json
from autograder.report.gradescope_schema import PLATFORM_CHARACTERS, read_results
from autograder.results import Explanation, Grade, Key, LeaderboardEntry, Versions
from tests.report.grades import EXPLANATION, check, grade, passed, ungraded

TOP = {
    "score",
    "execution_time",
    "output",
    "output_format",
    "test_output_format",
    "test_name_format",
    "visibility",
    "stdout_visibility",
    "extra_data",
    "tests",
    "leaderboard",
}
TEST = {
    "score",
    "max_score",
    "status",
    "name",
    "name_format",
    "number",
    "output",
    "output_format",
    "tags",
    "visibility",
    "extra_data",
}


def as_the_platform_reads(graded: Grade) -> dict[str, Any]:
    """The file as Python's json reads it, after the strict schema has taken it."""
    data = to_results_json(graded)
    read_results(data)

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(data, parse_constant=refuse)


def test_the_file_has_the_documented_fields_and_no_other() -> None:
    results = as_the_platform_reads(grade(check(), passed("2.2")))
    assert set(results) == TOP
    assert all(set(test) == TEST for test in results["tests"])


def test_a_passed_and_a_failed_check_carry_points_status_number_and_name() -> None:
    results = as_the_platform_reads(grade(check("2.1"), passed("2.10", title="Rows of weights sum to 1")))
    rows = [
        (test["number"], test["name"], test["score"], test["max_score"], test["status"]) for test in results["tests"]
    ]
    assert rows == [
        ("2.1", "Rows sum to 1", 0.0, 2.0, "failed"),
        ("2.10", "Rows of weights sum to 1", 2.0, 2.0, "passed"),
    ]
    assert results["score"] == 2.0


def test_a_bonus_check_that_failed_has_status_failed_though_its_score_is_its_maximum() -> None:
    results = as_the_platform_reads(grade(check(weight=0.0)))
    assert results["tests"][0]["status"] == "failed"


def test_partial_credit_is_failed_with_its_score() -> None:
    results = as_the_platform_reads(grade(check(outcome="partial", score=0.5)))
    assert (results["tests"][0]["score"], results["tests"][0]["status"]) == (0.5, "failed")


def test_sums_of_thirds_are_written_short_and_never_above_the_maximum() -> None:
    results = as_the_platform_reads(grade(passed(weight=0.1 + 0.2, score=0.1 + 0.2), maximum=0.3, points=0.3))
    assert results["tests"][0]["score"] == 0.3
    assert results["score"] == 0.3


def test_the_five_lines_stand_in_the_output_as_plain_text() -> None:
    test = as_the_platform_reads(grade(check()))["tests"][0]
    assert test["output_format"] == "text"
    assert [line.split()[0] for line in test["output"].split("\n")] == ["property", "case", "expected", "cause", "read"]


def test_stdout_is_for_instructors() -> None:
    assert as_the_platform_reads(grade(passed()))["stdout_visibility"] == "hidden"


@pytest.mark.parametrize("visibility", ["visible", "hidden", "after_due_date", "after_published"])
def test_a_check_keeps_its_visibility(visibility: str) -> None:
    assert as_the_platform_reads(grade(check(visibility=visibility)))["tests"][0]["visibility"] == visibility


def test_tags_are_kept() -> None:
    assert as_the_platform_reads(grade(check(tags=("masks", "bonus"))))["tests"][0]["tags"] == ["masks", "bonus"]


def test_a_hidden_check_gives_its_property_and_its_cause_and_not_a_number_of_its_case_anywhere_in_the_file() -> None:
    explanation = Explanation(
        property="PROPERTY", case="CASE-41", expected="EXPECTED-42", got="GOT-43", cause="CAUSE", read="handout 2.3"
    )
    hidden = check(
        explanation=explanation, hidden=True, visibility="after_published", output="PRINTED-44", staff="STAFF-45"
    )
    data = to_results_json(grade(hidden)).decode()
    assert "PROPERTY" in data and "CAUSE" in data
    assert not [word for word in ("CASE-41", "EXPECTED-42", "GOT-43", "PRINTED-44", "STAFF-45") if word in data]


def test_what_staff_should_know_stands_in_extra_data_alone() -> None:
    graded = grade(
        check(staff="AssertionError in line 7"),
        staff=("the fork server was restarted",),
        sandbox={"identity": "uid 61001"},
        key=Key(
            submission="aa", assignment="bb", grader="cc", versions=Versions(softmark="0.1", torch="2", python="3")
        ),
    )
    results = as_the_platform_reads(graded)
    assert results["tests"][0]["extra_data"]["staff"] == "AssertionError in line 7"
    assert results["tests"][0]["extra_data"]["outcome"] == "failed"
    assert results["extra_data"]["staff"] == ["the fork server was restarted"]
    assert results["extra_data"]["sandbox"] == {"identity": "uid 61001"}
    assert results["extra_data"]["key"]["submission"] == "aa"
    assert "AssertionError" not in results["output"] + results["tests"][0]["output"]


def test_what_nobody_could_grade_scores_0_and_says_why_and_that_this_is_no_grade() -> None:
    results = as_the_platform_reads(ungraded("work.zip is no zip archive. Hand in a zip."))
    assert results["score"] == 0.0 and results["tests"] == []
    assert "could not be graded" in results["output"] and "work.zip is no zip archive" in results["output"]
    assert results["extra_data"]["status"] == "ungraded"


def test_an_incomplete_grade_says_so_and_names_the_checks_that_broke_on_our_side() -> None:
    graded = grade(
        passed("2.1"), check("2.2", outcome="broken", explanation=None), status="incomplete", reason="SECRET-46"
    )
    results = as_the_platform_reads(graded)
    assert "not complete" in results["output"] and "2.2" in results["output"]
    assert "SECRET-46" not in results["output"]
    assert results["score"] == 2.0


def test_a_complete_grade_says_nothing_of_being_incomplete() -> None:
    assert "not complete" not in as_the_platform_reads(grade(passed()))["output"]


def test_points_by_part_and_notes_about_the_files_stand_above_the_tests() -> None:
    output = as_the_platform_reads(grade(passed(), notes=("attn.py was taken for attention.py",)))["output"]
    assert output == "attention: 2 of 22 points\n\n- attn.py was taken for attention.py"


def test_no_format_in_the_file_interprets_markup() -> None:
    output = "<script>alert(1)</script> [click](http://x) \x1b[32mPASSED\x1b[0m \u202e"
    results = as_the_platform_reads(grade(check(output=output), notes=(output,)))
    formats = {value for name, value in [*results.items(), *results["tests"][0].items()] if name.endswith("_format")}
    assert formats == {"text"}
    everything = json.dumps(results, ensure_ascii=False)
    assert "\x1b" not in everything and "\\u001b" not in everything and "\u202e" not in everything


def test_what_a_student_printed_stands_behind_a_bar() -> None:
    output = as_the_platform_reads(grade(check(output="cause     All is right.")))["tests"][0]["output"]
    assert "\n  | cause     All is right." in output


def test_lone_surrogates_in_every_text_of_a_grade_are_writable() -> None:
    bad = "x\ud800y\x00"
    graded = grade(
        check(bad, title=bad, explanation=Explanation(property=bad, got=bad), output=bad, staff=bad, tags=(bad,)),
        submission=bad,
        notes=(bad,),
        staff=(bad,),
        reason=bad,
        sandbox={bad: bad},
        leaderboard=(LeaderboardEntry(name=bad, value=bad),),
    )
    assert "\\ud800" in as_the_platform_reads(graded)["tests"][0]["name"]


@pytest.mark.parametrize("count", [1, 3, 40, 400])
def test_outputs_of_any_number_of_checks_stay_below_what_the_platform_cuts(count: int) -> None:
    explanation = Explanation(property="p" * 9_000, got="g" * 9_000)
    loud = [
        check(f"2.{number}", output="x" * 50_000 + "\x1b" * 50_000, explanation=explanation) for number in range(count)
    ]
    results = as_the_platform_reads(grade(*loud, notes=("n" * 90_000,) * 50, reason="r" * 90_000))
    assert len(results["output"]) + sum(len(test["output"]) for test in results["tests"]) < PLATFORM_CHARACTERS
    assert all(test["output"].startswith("property") for test in results["tests"])


def test_a_leaderboard_has_its_columns_and_none_without_a_value() -> None:
    graded = grade(
        passed(),
        leaderboard=(
            LeaderboardEntry(name="accuracy", value=0.75),
            LeaderboardEntry(name="seconds", value=1.5, order="asc"),
            LeaderboardEntry(name="name", value="swift"),
            LeaderboardEntry(name="failed", value=None),
            LeaderboardEntry(name="endless", value=float("inf")),
        ),
    )
    assert as_the_platform_reads(graded)["leaderboard"] == [
        {"name": "accuracy", "value": 0.75, "order": "desc"},
        {"name": "seconds", "value": 1.5, "order": "asc"},
        {"name": "name", "value": "swift", "order": "desc"},
    ]


def test_the_same_grade_gives_the_same_bytes() -> None:
    assert to_results_json(grade(check())) == to_results_json(grade(check()))


@pytest.mark.parametrize(
    "change",
    [
        {"score": "2"},
        {"score": -1.0},
        {"execution_time": -1.0},
        {"unknown": 1},
        {"output": ["a list"]},
        {"output": "x" * 100_001},
        {"stdout_visibility": "instructors"},
        {"tests": [{"name": "no score"}]},
        {"leaderboard": [{"name": "n", "value": None}]},
    ],
)
def test_the_schema_refuses_what_the_platform_does_not_take(change: dict[str, Any]) -> None:
    results = msgspec.to_builtins(to_results(grade(check())))
    with pytest.raises(msgspec.ValidationError):
        read_results(msgspec.json.encode({**results, **change}))


def test_the_explanation_of_the_record_is_not_changed() -> None:
    graded = grade(check(hidden=True))
    to_results(graded)
    assert graded.checks[0].explanation == EXPLANATION


def test_the_reason_of_an_ungraded_one_names_no_folder_of_the_machine() -> None:
    results = as_the_platform_reads(ungraded("/srv/staff/hw8/student_3/work.zip is no zip: see https://a.b/c/d."))
    assert "work.zip is no zip: see https://a.b/c/d." in results["output"]
    assert "/srv" not in json.dumps(results)
    results = as_the_platform_reads(ungraded("hw 8/work/student_03: a/b.py is cut off.", submission="student_03"))
    assert results["output"].endswith("\n\nstudent_03: a/b.py is cut off.")


HIDDEN_TOO = grade(
    passed("2.1"),
    check("2.2", hidden=True, visibility="hidden", title="Rows sum to 1"),
    passed("2.3", hidden=True, visibility="hidden"),
)


@pytest.mark.parametrize(
    ("meanwhile", "told"),
    [
        ("nothing", ""),
        ("counts", "\nHidden checks that fail in attention: 1 of 2"),
        ("causes", "\nHidden check 2.2 fails: Rows sum to 1 (The scale is missing.)"),
    ],
)
def test_until_the_due_date_sums_are_of_visible_checks_and_say_so(meanwhile: Any, told: str) -> None:
    results = to_results(HIDDEN_TOO, meanwhile=meanwhile)
    assert results.execution_time == 0.0  # code can sleep by what a hidden case holds
    assert results.output == (
        "attention: 2 of 2 points in visible checks\n"
        f"These sums leave out the hidden checks, which hold 4 points.{told}"
    )


def test_after_the_due_date_hidden_points_are_in_the_sum() -> None:
    assert to_results(HIDDEN_TOO).output == "attention: 4 of 22 points"
