"""grades.csv: a row a submission, blank where there is no grade, whole or not there."""

import csv
import io
from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.report.gradebook import gradebook_csv as csv_of_rows
from autograder.report.gradebook import row_of, write_gradebook
from autograder.results import Grade, Lateness, PartPoints, Submitter
from tests.report.grades import check, grade, passed, ungraded

WHO = {"name": "", "sid": "", "email": ""}
IN_TIME = {"late_hours": "", "late_percent": "", "absent": ""}


def gradebook_csv(grades, present=None) -> str:
    return csv_of_rows(map(row_of, grades), present)


def rows(*grades: Grade) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gradebook_csv(grades))))


def test_a_row_has_status_total_maximum_parts_and_checks() -> None:
    assert rows(grade(check("2.1", outcome="partial", score=0.5), passed("2.2"))) == [
        {"submission": "student_03", "status": "graded", "total": "2.5", "maximum": "22", "attention": "2.5"}
        | {**WHO, **IN_TIME, "2.1": "0.5", "2.2": "2", "reason": ""}
    ]


def test_checks_stand_in_the_order_of_their_numbers() -> None:
    header = gradebook_csv([grade(passed("2.10"), passed("2.9"), passed("10.1"))]).split("\n")[0]
    assert header.endswith("attention,2.9,2.10,10.1,reason")


def test_parts_stand_in_the_order_of_their_numbers() -> None:
    parts = (PartPoints(part="a", number=2, points=1, maximum=2), PartPoints(part="z", number=1, points=1, maximum=2))
    header = gradebook_csv([grade(parts=parts)]).split("\n")[0]
    assert header == "submission,name,sid,email,status,total,maximum,late_hours,late_percent,absent,z,a,reason"


def test_people_of_a_group_stand_in_one_row_and_leading_zeros_count() -> None:
    two = (Submitter(name="A", sid="0222", email="a@example.edu"), Submitter(name="B", sid="0333"))
    (row,) = rows(grade(passed(), submitters=two))
    assert (row["name"], row["sid"], row["email"]) == ("A; B", "0222; 0333", "a@example.edu; ")


def test_of_what_nobody_could_grade_everything_is_blank_but_the_maximum() -> None:
    table = rows(ungraded(submission="b"), grade(passed("2.1"), submission="a"))
    assert table[1] == {
        "submission": "b",
        "status": "ungraded",
        "total": "",
        "maximum": "22",
        "attention": "",
        "2.1": "",
        **WHO,
        **IN_TIME,
        "reason": ungraded().reason,
    }


def test_a_check_that_broke_on_our_side_is_blank_and_one_that_failed_is_0() -> None:
    row = rows(grade(check("2.1", outcome="broken"), check("2.2"), status="incomplete"))[0]
    assert (row["2.1"], row["2.2"], row["status"]) == ("", "0", "incomplete")


@pytest.mark.parametrize(
    ("late", "hours", "percent"),
    [
        (Lateness(percent=20, hours=25 + 1 / 60), "25.0167", "20"),
        (Lateness(hours=0.1), "0.1", "0"),  # within the grace
        (Lateness(hours=0.0), "0", "0"),
        (Lateness(staff="The time is not known."), "", ""),
        (None, "", ""),
    ],
)
def test_a_row_says_how_late_it_was_and_what_that_cost(late: Lateness | None, hours: str, percent: str) -> None:
    row = rows(grade(passed(), late=late))[0]
    assert (row["late_hours"], row["late_percent"]) == (hours, percent)


def test_the_total_is_blank_until_the_grade_is_whole() -> None:
    assert rows(grade(passed(), status="incomplete"))[0]["total"] == ""


def test_who_is_not_among_the_hand_ins_of_the_latest_run_is_absent() -> None:
    grades = [grade(submission=name) for name in ("a", "b")]
    absent = csv.DictReader(io.StringIO(gradebook_csv(grades, present={"b", "c"})))
    assert [(row["submission"], row["absent"]) for row in absent] == [("a", "yes"), ("b", "")]


def test_rows_are_sorted_by_submission() -> None:
    assert [row["submission"] for row in rows(grade(submission="b"), grade(submission="a"))] == ["a", "b"]


def test_a_check_that_one_grade_lacks_is_blank_there() -> None:
    table = rows(grade(passed("2.1"), submission="a"), grade(passed("2.2"), submission="b"))
    assert (table[0]["2.2"], table[1]["2.1"]) == ("", "")


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-1", "@SUM(A1)", "\t=1", "\n=1", "\uff1d1+1"])
def test_a_name_is_no_formula(name: str) -> None:
    assert rows(grade(submission=name))[0]["submission"] == "'" + name


def test_commas_quotes_and_newlines_in_names_survive() -> None:
    assert rows(grade(submission='a,"b"\nc'))[0]["submission"] == 'a,"b"\nc'


def test_a_name_that_is_no_unicode_is_escaped() -> None:
    assert rows(grade(submission="a\udcff\x1b"))[0]["submission"] == r"a\udcff\x1b"


def test_thirds_are_written_short() -> None:
    assert rows(grade(passed(score=0.1 + 0.2), points=0.1 + 0.2))[0]["total"] == "0.3"


def test_a_run_without_grades_still_has_a_header() -> None:
    assert gradebook_csv([]) == "submission,name,sid,email,status,total,maximum,late_hours,late_percent,absent,reason\n"


def test_writing_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")
    write_gradebook([row_of(grade(passed()))], path)
    assert path.read_text() == gradebook_csv([grade(passed())])
    assert [file.name for file in tmp_path.iterdir()] == ["grades.csv"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(SoftmarkError, match=r"grades\.csv could not be written \(no space left"):
        write_gradebook([row_of(grade(passed()))], path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["grades.csv"]
