"""What one submission could do to a whole run: its name, a check that never ends on its value, a fault of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.errors import GraderError
from autograder.grading import record, workers
from autograder.grading.grader import Grader
from autograder.intake.finding import find_submissions
from autograder.intake.submission import Submission
from autograder.report.gradebook import row_of, write_gradebook
from autograder.results import ReturnedTooMuch
from autograder.run import pool, written
from autograder.run.pool import Done, Job, grade_all
from autograder.run.session import Session
from tests.tiny import REFERENCE, tiny_assignment

ENDLESS = """
@number("1.1")
@weight(2)
def test_doubles(student):
    \"\"\"It ends on right values\"\"\"
    if student.double(1) != 2:
        __import__("threading").Event().wait()
"""
CARELESS = """
@number("1.1")
@weight(1)
@pytest.mark.parametrize("n", range(3))
def test_doubles(student, n):
    \"\"\"All of a value is put into the message\"\"\"
    __import__("gc").disable()
    got = student.double(n)
    raise Mismatch(repr(got), repr(got), repr(got), hint=repr(got))

@number("1.2")
@weight(1)
def test_doubles_again(student):
    \"\"\"Nothing of the check before is left\"\"\"
    import gc
    gc.enable()
    held = sum(type(each) is list and len(each) == 2 and type(each[0]) is bytes for each in gc.get_objects())
    assert student.double(0) == 0, f"held: {held}"
"""
COLLECTS = """
from pathlib import Path
kept = []

@number("1.1")
@weight(2)
@visibility("hidden")  # so that it runs once
@pytest.mark.parametrize("n", range(3))
def test_doubles(student, n):
    \"\"\"All that comes is kept\"\"\"
    with student.stream(student.double, items=["a"]) as stream:
        while not stream.done:
            kept.append(stream.take(10))
            Path("{seen}").write_text(str(len(kept)))
"""
GIVES = "def double(items):\n    while True:\n        yield b'x' * 100_000\n"
LARGE = "def double(x):\n    return [b'\\xff' * 2_000_000, x]\n"
LOOPS = """
@number("1.1")
@weight(2)
def test_doubles(student):
    \"\"\"What a loop goes over is what student code gives\"\"\"
    for number, got in zip(range(3), map(student.double, range(3))):
        assert got == 2 * number
"""
ENDS_IT = """
class Quiet(StopIteration): pass
def double(x):
    raise {}
"""
Hand = Callable[..., dict[str, Done]]


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return tiny_assignment(tmp_path)


@pytest.fixture
def grade(tmp_path: Path, session: Session) -> Hand:
    """Grades sources by name with one grader."""

    def grade(assignment: Assignment, **sources: str) -> dict[str, Done]:
        for name, source in sources.items():
            home = tmp_path / "handed_in" / name
            home.mkdir(parents=True, exist_ok=True)
            (home / "numbers_part.py").write_text(source)
        found = find_submissions(tmp_path / "handed_in", assignment)
        job = Job(assignment, found, tmp_path / "grades")
        return {done.grade.submission: done for done in grade_all(job, session, 1)}

    return grade


def test_a_submission_cannot_take_the_gradebooks_place(assignment: Assignment, tmp_path: Path, grade: Hand) -> None:
    done = grade(assignment, **{"grades.csv": REFERENCE, "Grades.CSV": REFERENCE, "student_01": REFERENCE})
    assert [each.grade.points for each in done.values()] == [2, 2, 2]
    write_gradebook([row_of(each.grade) for each in done.values()], tmp_path / "grades" / "grades.csv")


def test_a_check_that_never_ends_on_a_students_value_costs_that_submission_alone(
    tmp_path: Path, grade: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_GRACE", 0.2)
    monkeypatch.setattr(pool, "_stuck_after", lambda _job: 6.0)
    done = grade(tiny_assignment(tmp_path, ENDLESS), student_01="def double(x):\n    return 3\n", student_02=REFERENCE)
    assert done["student_01"].grade.status == "ungraded"
    assert done["student_02"].grade.points == 2


@pytest.fixture
def plain_asserts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of tests there is no pytest around the grader that rewrites the checks' assertions."""
    monkeypatch.setattr(sys, "meta_path", [each for each in sys.meta_path if "Rewriting" not in type(each).__name__])


@pytest.mark.usefixtures("plain_asserts")
def test_what_is_said_of_a_large_value_is_short_and_the_value_is_let_go(tmp_path: Path, grade: Hand) -> None:
    done = grade(tiny_assignment(tmp_path, CARELESS), student_01=LARGE)["student_01"]
    assert [check.outcome for check in done.grade.checks] == ["failed", "failed"]
    told = done.grade.checks[1].explanation
    assert told is not None and told.got == "held: 0"
    assert (tmp_path / "grades" / "student_01" / "grade.json").stat().st_size < 200_000


def test_a_check_gets_so_much_and_no_more_however_many_items_it_has(
    tmp_path: Path, grade: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_RETURNED", 3 << 20)
    collects = COLLECTS.replace("{seen}", str(tmp_path / "seen"))
    done = grade(tiny_assignment(tmp_path, checks="", hidden=collects), student_01=GIVES)["student_01"]
    (check,) = done.grade.checks
    assert (check.outcome, check.score) == ("crashed", 0)
    assert isinstance(check.reason, ReturnedTooMuch)
    assert int((tmp_path / "seen").read_text()) <= 4


def test_no_exception_of_a_students_ends_a_loop_of_a_check(tmp_path: Path, grade: Hand) -> None:
    kinds = {"student_01": "StopIteration", "student_02": "Quiet()", "student_03": "StopAsyncIteration"}
    sources = {name: ENDS_IT.format(kind) for name, kind in kinds.items()}
    done = grade(tiny_assignment(tmp_path, LOOPS), **sources, student_04=REFERENCE)
    assert [each.grade.points for each in done.values()] == [0, 0, 0, 2]


def test_a_fault_of_the_grader_at_one_submission_does_not_stop_the_others(
    assignment: Assignment, grade: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded = Grader.grade

    def failing(self: Grader, submission: Submission, *rest: object) -> object:
        if submission.name == "student_01":
            raise GraderError("it broke")
        return graded(self, submission, *rest)  # pyright: ignore

    monkeypatch.setattr(Grader, "grade", failing)
    done = grade(assignment, student_01=REFERENCE, student_02=REFERENCE)
    assert (done["student_01"].grade.status, done["student_02"].grade.points) == ("ungraded", 2)


def test_before_the_first_check_results_say_that_grading_has_not_finished(
    assignment: Assignment, tmp_path: Path, grade: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_checks, seen = Grader._run_checks, tmp_path / "seen.json"

    def looking(self: Grader, *arguments: object) -> object:
        seen.write_bytes((tmp_path / "grades" / "student_01" / "results.json").read_bytes())
        return run_checks(self, *arguments)  # pyright: ignore

    monkeypatch.setattr(Grader, "_run_checks", looking)
    done = grade(assignment, student_01=REFERENCE)
    results = json.loads(seen.read_text())
    assert results["score"] == 0 and "had not finished" in results["output"]
    assert done["student_01"].grade.points == 2
    assert "had not finished" not in (tmp_path / "grades" / "student_01" / "results.json").read_text()


def test_a_run_that_was_cut_short_is_resumed_with_the_results_of_the_record(
    assignment: Assignment, tmp_path: Path, grade: Hand
) -> None:
    grade(assignment, student_01=REFERENCE)
    file = tmp_path / "grades" / "student_01" / "results.json"
    whole = file.read_bytes()
    written.begin(tmp_path / "grades", "student_01", assignment)  # graded again, and killed before the end
    assert grade(assignment, student_01=REFERENCE)["student_01"].resumed
    assert file.read_bytes() == whole


def test_no_record_is_read_from_what_has_not_finished(assignment: Assignment, tmp_path: Path) -> None:
    written.begin(tmp_path / "grades", "student_01", assignment)
    assert record.read(tmp_path / "grades", "student_01") is None
