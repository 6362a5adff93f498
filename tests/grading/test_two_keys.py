"""A visible check gives points on the hidden key; what a student is shown comes from the public one."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.grader import Grader
from autograder.report.view import ONLY_HERE, check_view
from autograder.results import CheckResult
from autograder.testing.cases import Cases
from tests.running import in_process, with_grader
from tests.tiny import REFERENCE, tiny_assignment

HOME, HERE = (Cases(key, "numbers_part.test_doubles").tensor(3) for key in (b"tiny-visible", b"tiny-hidden"))
TABLE = f"""
import torch
def double(x):
    print("called with", x.tolist())
    known = torch.tensor({HOME.tolist()})
    return 2 * x if torch.allclose(x, known) else 0 * x
"""


def found(tmp_path: Path, source: str) -> CheckResult:
    results: list[CheckResult] = []

    def work(grader: Grader) -> None:
        with in_process(source, tmp_path) as here:
            results.extend(grader.try_out("student_03", here).checks)

    with_grader(tiny_assignment(tmp_path), work)
    return results[0]


def test_a_table_of_the_answers_at_home_earns_nothing_and_is_shown_no_number(tmp_path: Path) -> None:
    check = found(tmp_path, TABLE)
    assert (check.outcome, check.score) == ("failed", 0)
    view = check_view(check)
    assert view.told is not None and (view.told.case, view.told.expected, view.told.got) == (
        ONLY_HERE["passes at home"],
        "",
        "",
    )
    assert view.printed == ""


def test_a_failing_check_shows_the_case_of_the_public_key(tmp_path: Path) -> None:
    view = check_view(found(tmp_path, "def double(x):\n    return 3 * x\n"))
    assert view.told is not None
    assert all(f"{number:.5g}" in view.told.case for number in HOME.tolist())
    assert ", ".join(f"{number:.5g}" for number in HERE.tolist()) not in str(view)


def test_an_exception_with_the_input_in_it_tells_the_public_one(tmp_path: Path) -> None:
    view = check_view(found(tmp_path, "def double(x):\n    raise ValueError(str(x.tolist()))\n"))
    assert view.told is not None
    assert str(HOME.tolist()) in view.told.got and str(HERE.tolist()[0]) not in str(view)


def test_what_a_passing_solution_prints_is_not_shown(tmp_path: Path) -> None:
    source = REFERENCE.replace("return 2 * x", "print(x.tolist()); return 2 * x")
    check = found(tmp_path, source)
    assert check.outcome == "passed" and check_view(check).printed == ""
