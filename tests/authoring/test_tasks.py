"""The table of tasks is made of the checks' weights and the handout's headings, and contradictions are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring.starter_code import make_starter, tasks_are_stale, write_tasks
from autograder.errors import SoftmarkError
from tests.tiny import tiny_assignment

CHECKS = '''
@number("1.1")
@weight(1.5)
@pytest.mark.read("handout 1.1")
def test_doubles(student):
    """Doubling gives twice the number"""


@number("1.3")
@weight(0)
@pytest.mark.read("handout 1.2")
def test_counts(student):
    """Counting counts"""
'''

HIDDEN = '''
@number("1.2")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_doubles_everything(student):
    """Doubling doubles everything"""
'''

HANDOUT = """# Tiny

<!-- tasks -->
<!-- /tasks -->

## Part 1: numbers (`numbers_part.py`, 2 points)

### 1.1 double (2 points)

*Difficulty 3 of 5, importance 5 of 5, 25 minutes.*

`double`

### 1.2 Bonus: Counter (0 points)

*Difficulty 1 of 5, importance 1 of 5, 10 minutes. Checked, without points.*

`Counter`
"""

TABLE = """<!-- tasks -->
| | task | points | minutes | difficulty | checks you have | hidden checks |
|---|---|--:|--:|:-:|---|---|
| **1** | **Numbers**, `numbers_part.py` | **2** | **25** | | | |
| 1.1 | double | 2 | 25 | 3 | 1.1 | 1.2 |
| 1.2 | Counter | bonus | 10 | 1 | 1.3 |  |
| | **all, without bonus** | **2** | **25** | | | |
<!-- /tasks -->
"""


def with_handout(tmp_path: Path, handout: str) -> Assignment:
    assignment = tiny_assignment(tmp_path, CHECKS, HIDDEN)
    (assignment.folder / "handout.md").write_text(handout)
    return assignment


def test_the_table_counts_points_by_exercise_and_names_the_checks(tmp_path: Path) -> None:
    assignment = with_handout(tmp_path, HANDOUT)
    expected = HANDOUT.replace("<!-- tasks -->\n<!-- /tasks -->\n", TABLE)
    assert make_starter(assignment)["README.md"].decode() == expected
    assert write_tasks(assignment)
    assert (assignment.folder / "handout.md").read_text() == expected
    assert not tasks_are_stale(assignment)


def test_a_handout_without_a_place_for_the_table_stays_as_it_is(tmp_path: Path) -> None:
    assignment = with_handout(tmp_path, "# Tiny\n\n### 7.7 nothing (9 points)\n")
    assert not write_tasks(assignment)
    assert make_starter(assignment)["README.md"] == b"# Tiny\n\n### 7.7 nothing (9 points)\n"


def test_a_number_with_a_letter_is_a_number_and_a_handout_without_exercises_is_a_sentence(tmp_path: Path) -> None:
    assignment = with_handout(tmp_path, HANDOUT)
    checks = assignment.folder / "checks" / "test_numbers_part.py"
    checks.write_text(checks.read_text().replace('"1.3"', '"1.1b"'))
    assert "| 1.2 | Counter | bonus | 10 | 1 | 1.1b |  |" in make_starter(assignment)["README.md"].decode()
    (assignment.folder / "handout.md").write_text(HANDOUT.replace("### ", "#### "))
    with pytest.raises(
        SoftmarkError, match=r"no exercise '1\.1', .* an exercise is a heading such as '### 1\.1 softmax"
    ):
        make_starter(assignment)
    checks.write_text(checks.read_text() + "def (")
    with pytest.raises(SoftmarkError, match=r"test_numbers_part\.py, line \d+, is not Python"):
        make_starter(assignment)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("1.1 double (2 points)", "1.1 double (1 point)", r"1\.1 says 1 points, and its checks give 2"),
        ("### 1.2 Bonus", "### 1.4 Bonus", r"has no exercise '1\.2', which check 1\.3 names"),
        ("numbers_part.py`, 2 points", "numbers_part.py`, 3 points", r"needs the heading '## Part 1: .*2 points\)'"),
    ],
)
def test_points_that_do_not_agree_are_refused(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assignment = with_handout(tmp_path, HANDOUT.replace(before, after))
    with pytest.raises(SoftmarkError, match=sentence):
        make_starter(assignment)
