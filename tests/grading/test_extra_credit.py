"""Extra credit: points on top of a part's, counted after lateness and up to the cap, in every form of a grade."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from autograder.assignment.assignment import load_assignment
from autograder.assignment.late import total_of
from autograder.intake.finding import find_submissions
from autograder.report.console import print_student_view
from autograder.report.feedback import feedback_page
from autograder.report.gradebook import gradebook_csv, row_of
from autograder.report.gradescope_json import to_results
from autograder.results import Grade, Lateness, PartPoints
from autograder.run.overrides import added_up
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

BONUS = '''
@number("1.2")
@weight(3)
@pytest.mark.extra_credit
def test_counts(student):
    """A counter counts"""
    assert student.Counter(2).step() == 3
'''
NO_BONUS = REFERENCE.replace("self.value += by\n        return self.value", "raise NotImplementedError")
WRONG = REFERENCE.replace("return 2 * x", "return 3 * x")


@pytest.fixture
def grades(tmp_path: Path, session: Session) -> dict[str, Grade]:
    """With a cap of 1 above 2 points: all, without the bonus, the bonus alone."""
    folder = tiny_assignment(tmp_path, ONE_CHECK + BONUS).folder
    manifest = folder / "assignment.toml"
    manifest.write_text(f"extra_credit_cap = 1\n{manifest.read_text()}")
    assignment = load_assignment(folder)
    for name, source in (("all", REFERENCE), ("none", NO_BONUS), ("bonus", WRONG)):
        (tmp_path / "handed_in" / name).mkdir(parents=True)
        (tmp_path / "handed_in" / name / "numbers_part.py").write_text(source)
    found = find_submissions(tmp_path / "handed_in", assignment)
    done = grade_all(Job(assignment, found, tmp_path / "grades"), session, 1)
    return {each.grade.submission: each.grade for each in done}


def test_it_is_on_top_of_the_maximum_up_to_the_cap(grades: dict[str, Grade]) -> None:
    points = {name: (grade.points, grade.maximum, grade.extra_credit) for name, grade in grades.items()}
    assert points == {"all": (3, 2, 3), "none": (2, 2, 0), "bonus": (3, 2, 3)}
    assert [part.points for part in grades["all"].parts] == [2]


def test_on_the_platform_it_has_no_maximum_and_is_not_there_while_nobody_tried_it(grades: dict[str, Grade]) -> None:
    results = to_results(grades["all"])
    assert results.score == 3
    assert [(test.number, test.score, test.max_score) for test in results.tests] == [("1.1", 2, 2), ("1.2", 3, 0)]
    assert "extra credit: +1 points" in results.output
    assert [test.number for test in to_results(grades["none"]).tests] == ["1.1"]


def test_people_read_it_as_a_line_of_its_own(grades: dict[str, Grade]) -> None:
    text = io.StringIO()
    print_student_view(grades["bonus"], Console(file=text, width=100))
    assert "extra credit  +3" in text.getvalue() and "3 of 2 points" in text.getvalue()
    page = feedback_page(grades["bonus"])
    assert '<th scope="row">extra credit</th><td class="number">+3</td>' in page
    rows = list(csv.DictReader(io.StringIO(gradebook_csv(map(row_of, grades.values())))))
    assert {row["submission"]: (row["total"], row["extra_credit"]) for row in rows} == {
        "all": ("3", "3"),
        "bonus": ("3", "3"),
        "none": ("2", ""),
    }
    assert "extra_credit" not in gradebook_csv([row_of(grades["none"])])


def test_an_override_of_it_counts_like_the_check(grades: dict[str, Grade]) -> None:
    less = tuple(msgspec.structs.replace(check, score=min(check.score, 0.5)) for check in grades["bonus"].checks)
    assert added_up(msgspec.structs.replace(grades["bonus"], checks=less)).points == 0.5


@pytest.mark.parametrize(
    "earned, extra, cap, percent, total",
    [(80, 10, 0, 0, 90), (95, 10, 0, 0, 100), (95, 10, 5, 0, 105), (100, 10, 3, 0, 103), (90, 10, 0, 50, 55)],
)
def test_it_fills_up_what_is_missing_and_lateness_takes_nothing_of_it(
    earned: float, extra: float, cap: float, percent: float, total: float
) -> None:
    part = PartPoints(part="p", number=1, points=earned, maximum=100)
    grade = Grade(
        submission="student_03",
        assignment="a",
        status="graded",
        points=0,
        maximum=100,
        parts=(part,),
        extra_credit=extra,
        extra_cap=cap,
    )
    assert total_of(grade, Lateness(percent=percent)) == total
