"""What the workers of one submission have in common: imports, repeated time-outs, the deadline."""

from __future__ import annotations

import math
import time

import pytest

from autograder.assignment.assignment import Limits
from autograder.grading.workers import Workers
from autograder.intake.finding import find_submissions
from autograder.report.view import explained
from autograder.run.pool import Job, grade_all
from tests.tiny import REFERENCE, tiny_assignment

FIVE = "".join(
    f"""
@number("1.{n}")
@weight(1)
def test_doubles_{n}(student):
    \"\"\"Doubling {n}\"\"\"
    assert student.double({n}) == {2 * n}
"""
    for n in range(1, 6)
)


def grade_of(tmp_path, session, source, checks=FIVE, limits="cpu_seconds = 0.5\nimport_seconds = 0.5", points=5):
    assignment = tiny_assignment(tmp_path, checks, points=points, limits=limits)
    folder = tmp_path / "handed_in" / "student_03"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(source)
    job = Job(assignment, find_submissions(tmp_path / "handed_in", assignment), tmp_path / "grades")
    (done,) = grade_all(job, session, 1)
    return done.grade


def test_after_three_time_outs_in_one_function_its_other_checks_are_not_tried(tmp_path, session):
    grade = grade_of(tmp_path, session, "def double(x):\n    while True:\n        pass\n")
    assert [check.outcome for check in grade.checks] == ["timed_out"] * 5
    assert "already been stopped" in explained(grade.checks[3]).got
    assert sum(check.cpu_seconds for check in grade.checks) < 2.5


def test_a_part_that_hangs_at_import_is_tried_once(tmp_path, session):
    grade = grade_of(tmp_path, session, "while True:\n    pass\n")
    assert [check.outcome for check in grade.checks] == ["timed_out"] * 5
    assert sum(check.cpu_seconds > 0.1 for check in grade.checks) == 1
    assert "Importing numbers_part.py failed" in explained(grade.checks[4]).got


def test_a_sleeper_is_stopped_by_wall_time(tmp_path, session, monkeypatch):
    import autograder.grading.workers

    monkeypatch.setattr(autograder.grading.workers, "wall_limit", lambda seconds: 0.5)
    grade = grade_of(tmp_path, session, "import time\ndef double(x):\n    time.sleep(60)\n", FIVE, points=5)
    assert grade.checks[0].outcome == "timed_out"
    assert "waiting" in explained(grade.checks[0]).got


def test_past_the_total_deadline_checks_are_not_run_and_points_stay_out_of_the_maximum(tmp_path, session, monkeypatch):
    monkeypatch.setattr("autograder.grading.workers._MUCH", math.inf)  # as on a machine that nobody else keeps busy
    source = "def double(x):\n    if x == 2:\n        while True:\n            pass\n    return 2 * x\n"
    limits = "cpu_seconds = 10\ntotal_seconds = 1.5"
    grade = grade_of(tmp_path, session, source, limits=limits)
    assert [check.outcome for check in grade.checks] == ["passed", "not_run", "not_run", "not_run", "not_run"]
    assert (grade.points, grade.maximum, grade.status, grade.reason) == (1.0, 5.0, "graded", "")
    assert "that time was used up" in explained(grade.checks[4]).got


def test_each_check_starts_from_a_fresh_import(tmp_path, session):
    source = "calls = 0\ndef double(x):\n    global calls\n    calls += 1\n    return 2 * x if calls == 1 else None\n"
    assert grade_of(tmp_path, session, source).points == 5


def test_a_loaded_part_is_asked_for_no_name_that_it_has_and_once_for_one_that_it_has_not(
    tmp_path, session, monkeypatch
):
    from autograder.sandbox.worker import RemoteWorker
    from autograder.worker.protocol.messages import Call, Load, Look

    asked, request = [], RemoteWorker.request

    def noted(self, message, **limits):
        asked.append(message)
        return request(self, message, **limits)

    monkeypatch.setattr(RemoteWorker, "request", noted)
    assignment = tiny_assignment(tmp_path, FIVE, points=5)
    without = REFERENCE.replace("def double", "def duble")
    for name, source in (("student_03", REFERENCE), ("student_04", without)):
        (tmp_path / "handed_in" / name).mkdir(parents=True)
        (tmp_path / "handed_in" / name / "numbers_part.py").write_text(source)
    grades = []

    def work(grader):
        grades.extend(grader.grade(each) for each in find_submissions(tmp_path / "handed_in", assignment))

    session.with_grader(assignment, work, digest="")
    first, second = grades
    kinds = [type(message) for message in asked]
    assert kinds == [Load, Call] * 5 + [Load, Look] * 5
    assert len({repr(message) for message in asked if isinstance(message, Load)}) == 1
    assert (first.points, second.points) == (5, 0)
    assert {check.outcome for check in second.checks} == {"missing"}


def test_the_items_of_a_parametrised_check_share_one_worker(tmp_path, session):
    checks = """
@pytest.mark.parametrize("n", [1, 2, 3])
@number("1.1")
@weight(3)
def test_counts(student, n):
    \"\"\"Counting calls\"\"\"
    assert student.double(0) == n
"""
    source = "calls = 0\ndef double(x):\n    global calls\n    calls += 1\n    return calls\n"
    assert grade_of(tmp_path, session, source, checks, points=3).points == 3


def test_an_item_whose_worker_died_costs_its_share_and_no_other(tmp_path, session):
    checks = """
@pytest.mark.parametrize("n", [1, 2, 3])
@number("1.1")
@weight(3)
def test_doubles(student, n):
    \"\"\"Doubling\"\"\"
    try:
        student.double(n)
    except Exception:
        pass
    assert student.double(n) == 2 * n
"""
    source = "import os\ndef double(x):\n    print('at', x)\n    if x == 2:\n        os._exit(0)\n    return 2 * x\n"
    grade = grade_of(tmp_path, session, source, checks, points=3)
    assert (grade.status, grade.points, grade.checks[0].outcome) == ("graded", 2, "crashed")
    assert grade.checks[0].output.split() == ["at", "1", "at", "1", "at", "2", "at", "3", "at", "3"]


def test_a_part_that_was_not_handed_in_is_missing_and_not_a_crash(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    folder = tmp_path / "handed_in" / "student_03"
    folder.mkdir(parents=True)
    (folder / "helpers.py").write_text("x = 1\n")
    job = Job(assignment, find_submissions(tmp_path / "handed_in", assignment), tmp_path / "grades")
    (done,) = grade_all(job, session, 1)
    assert done.grade.checks[0].outcome == "missing"


@pytest.mark.parametrize("seconds", [0.5, 10.0])
def test_the_wall_limit_is_three_times_the_seconds_and_ten_more(seconds):
    from autograder.grading.workers import wall_limit

    assert wall_limit(seconds) == 3 * seconds + 10


def test_limits_have_the_defaults_that_the_documents_name():
    limits = Limits()
    assert (limits.cpu_seconds, limits.import_seconds, limits.memory_mb, limits.total_seconds) == (10, 20, 256, 540)


def test_the_reference_passes_in_a_worker(tmp_path, session):
    assert grade_of(tmp_path, session, REFERENCE).points == 5


def test_a_busy_machine_takes_nothing_of_the_time_for_the_submission(tmp_path, session, monkeypatch):
    """A busy machine is played: all the time that a call takes is said to be time in the queue for a processor."""
    from autograder.sandbox.worker import RemoteWorker

    start = time.monotonic()
    monkeypatch.setattr(RemoteWorker, "_queued", lambda _: time.monotonic() - start)
    source = "import time\ndef double(x):\n    time.sleep(0.4)\n    return 2 * x\n"
    assert grade_of(tmp_path, session, source, limits="total_seconds = 1.5").points == 5


def nobody():
    raise AssertionError("no worker is started past the deadline")


def test_the_end_of_a_run_is_not_put_off_by_waiting_for_processors_and_then_the_grade_is_not_complete():
    workers = Workers(nobody, ["numbers_part"], Limits(total_seconds=500), until=time.monotonic() - 1)
    workers.put_off_deadline(1000)
    assert workers.past_deadline()
    assert workers.cut_short


def test_without_such_an_end_waiting_for_processors_puts_the_deadline_off():
    workers = Workers(nobody, ["numbers_part"], Limits(total_seconds=0.1))
    workers.put_off_deadline(1000)
    assert not workers.past_deadline()
    assert not workers.cut_short


FIXTURES = """
seen = []

@pytest.fixture(scope="module")
def counted():
    seen.append("made")
    yield len(seen)
    seen.append("gone")

@pytest.fixture(autouse=True)
def around(monkeypatch):
    monkeypatch.setattr(torch, "left_by_a_check", 1, raising=False)

@number("1.1")
@weight(1)
def test_uses_fixtures(student, counted, tmp_path, set_score):
    \"\"\"Fixtures of pytest\"\"\"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    assert counted == 2 * seen.count("gone") + 1 and torch.left_by_a_check == 1
    set_score(0.5 if student.double(2) == 4 else 0)

@number("1.2")
@weight(1)
@pytest.mark.filterwarnings("error")
def test_warnings_are_errors(student):
    \"\"\"Marks of pytest\"\"\"
    import warnings
    with pytest.raises(UserWarning):
        warnings.warn("an error here")
    assert student.double(3) == 6
"""


def test_fixtures_and_marks_of_pytest_are_made_anew_for_each_submission(tmp_path, session):
    import torch

    assignment = tiny_assignment(tmp_path, FIXTURES, points=2)
    for name in ("student_03", "student_04", "student_05"):
        (tmp_path / "handed_in" / name).mkdir(parents=True)
        (tmp_path / "handed_in" / name / "numbers_part.py").write_text(REFERENCE)
    grades = []

    def work(grader):
        grades.extend(grader.grade(each) for each in find_submissions(tmp_path / "handed_in", assignment))

    session.with_grader(assignment, work, digest="")
    assert [[check.score for check in grade.checks] for grade in grades] == [[0.5, 1.0]] * 3
    assert [grade.status for grade in grades] == ["graded"] * 3
    assert not hasattr(torch, "left_by_a_check")


def test_waiting_for_a_processor_in_an_import_does_not_count_and_of_the_imports_the_first_does(
    tmp_path, session, monkeypatch
):
    from autograder.sandbox.worker import RemoteWorker

    source = "import time\ntime.sleep(0.5)\ndef double(x):\n    return 2 * x\n"
    assert grade_of(tmp_path / "imports", session, source, limits="total_seconds = 1.8").points == 5
    start = time.monotonic()
    monkeypatch.setattr(RemoteWorker, "_queued", lambda _: time.monotonic() - start)
    assert grade_of(tmp_path / "waits", session, source, limits="total_seconds = 0.4").points == 5


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("raise NotImplementedError", "missing"),
        ("raise NotImplementedError(f'soon {3}')", "missing"),
        ('"""It doubles."""\n    raise NotImplementedError("soon")', "missing"),
        ("y = x + x\n    raise NotImplementedError", "failed"),
        ("if x is not None: raise NotImplementedError", "failed"),
        ("return torch.ones(2, device='vulkan')", "failed"),
    ],
)
def test_a_stub_is_told_by_its_body(tmp_path, session, body, outcome):
    grade = grade_of(tmp_path, session, f"import torch\ndef double(x):\n    {body}\n")
    assert {check.outcome for check in grade.checks} == {outcome}


def test_a_worker_has_the_builtins_of_a_students_python_and_leaves_functions_uncompiled(tmp_path, session):
    source = """
import sys, torch
import torch.utils.checkpoint
@torch.compile
def unused(x): return x
before = set(sys.modules)
@torch.compile(fullgraph=True)
def double(x):
    x = torch.ones(1, requires_grad=True) * x
    torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
    torch.use_deterministic_algorithms(True)
    assert callable(help) and set(sys.modules) - before <= {"torch.utils._device"}
    return float(2 * x.sum())
exit()
"""
    assert grade_of(tmp_path, session, source).points == 5
